"""What scikit-learn is told about estimators that learn from labels, so that it stratifies folds and knows their scores.

scikit-learn is imported only when it asks.
"""

from __future__ import annotations

from typing import Any


def classifier_tags(tags: Any) -> Any:
    """The tags of an estimator that predicts classes; `tags` are those of any estimator."""
    from sklearn.utils import ClassifierTags

    tags.estimator_type, tags.classifier_tags, tags.target_tags.required = "classifier", ClassifierTags(), True
    return tags


__all__ = ["classifier_tags"]
