"""Tables of annotation: studies, what is marked in them, and what people said."""

from annotation.models.campaigns import Campaign, Guideline, Item
from annotation.models.talk import Adjudication, Comment, WebhookDelivery
from annotation.models.work import DECIDED, ActiveTime, Annotation, Assignment, Picture, Revision

__all__ = [
    "DECIDED",
    "ActiveTime",
    "Adjudication",
    "Annotation",
    "Assignment",
    "Campaign",
    "Comment",
    "Guideline",
    "Item",
    "Picture",
    "Revision",
    "WebhookDelivery",
]
