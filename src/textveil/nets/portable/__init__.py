"""Networks that stand alone: each file here needs torch and numpy only, and a copy of it goes into every model folder.

`python -c "import net; print(net.load('.'))"` inside a model folder works without Textveil. Training uses the same files.
"""
