"""Paper 11: private text classification with convolutional networks and secure computation between several parties."""
