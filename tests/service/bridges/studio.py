"""What Label Studio 1.23 sends, written down field by field from what a real one sent; and who sends it."""

import time

import httpx

CONFIG = (
    '<View><Text name="text" value="$text"/><Choices name="kind" toName="text">'
    '<Choice value="ham"/><Choice value="spam"/></Choices></View>'
)

TEXT = {"labels": ["ham", "spam"], "features": {"kind": "text"}, "grace": 0.0, "seed": 1}


def backend(server, name, secret=None):
    """Label Studio's client: requests to an address, with a name and a password where they are given."""
    auth = None if secret is None else ("label-studio", secret)
    return httpx.Client(base_url=f"{server.url}/label-studio/{name}/", auth=auth, timeout=100.0)


def until(found, seconds=120.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


def project(number=1, config=CONFIG):
    """A project as webhooks have it."""
    return {
        "id": number,
        "task_number": 3,
        "finished_task_number": 1,
        "total_predictions_number": 3,
        "total_annotations_number": 1,
        "num_tasks_with_annotations": 1,
        "useful_annotation_number": 1,
        "ground_truth_number": 0,
        "skipped_annotations_number": 0,
        "title": "mails",
        "description": "",
        "label_config": config,
        "parsed_label_config": {
            "kind": {
                "type": "Choices",
                "to_name": ["text"],
                "inputs": [{"type": "Text", "valueType": None, "value": "text"}],
                "labels": ["ham", "spam"],
                "labels_attrs": {"ham": {"value": "ham"}, "spam": {"value": "spam"}},
            }
        },
        "label_config_hash": 8523126550366986132,
        "show_collab_predictions": True,
        "evaluate_predictions_automatically": False,
        "maximum_annotations": 1,
        "control_weights": {"kind": {"overall": 1.0, "type": "Choices", "labels": {"ham": 1.0, "spam": 1.0}}},
        "model_version": "mails",
        "data_types": {"text": "Text"},
        "is_draft": False,
        "is_published": False,
        "created_at": "2026-11-18T00:48:38.144053Z",
        "updated_at": "2026-11-18T00:48:38.144120Z",
        "sampling": "Sequential sampling",
        "skip_queue": "REQUEUE_FOR_OTHERS",
        "task_data_login": None,
        "task_data_password": None,
        "organization": 1,
        "created_by": 1,
        "deleted_by": None,
    }


def task(number, text=None, **data):
    """A task as predict and webhooks have it."""
    return {
        "id": number,
        "data": ({"text": f"mail number {number}"} if not data else {})
        | ({} if text is None else {"text": text})
        | data,
        "meta": {},
        "created_at": "2026-11-18T00:48:38.654921Z",
        "updated_at": "2026-11-18T00:48:41.666038Z",
        "is_labeled": False,
        "overlap": 1,
        "inner_id": number,
        "total_annotations": 0,
        "cancelled_annotations": 0,
        "total_predictions": 0,
        "comment_count": 0,
        "unresolved_comment_count": 0,
        "last_comment_updated_at": None,
        "project": 1,
        "updated_by": None,
        "file_upload": None,
        "comment_authors": [],
        "annotations": [],
        "predictions": [],
    }


def chosen(label):
    return [{"from_name": "kind", "to_name": "text", "type": "choices", "value": {"choices": [label]}}]


def annotation(number, task, label, second=0, user=1, **more):
    """An annotation as webhooks and exports have it; ``second`` is when it was last changed."""
    return {
        "id": number,
        "result": [] if label is None else chosen(label),
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-11-18T00:48:40.872738Z",
        "updated_at": f"2026-11-18T01:{second // 60:02d}:{second % 60:02d}.412673Z",
        "draft_created_at": None,
        "lead_time": 2.5,
        "prediction": {"id": 1, "result": chosen("ham"), "model_version": "mails", "score": 0.5, "task": task},
        "result_count": 1,
        "unique_id": "0cd16ae2-91d1-4b71-acfb-d0d82d1ddea9",
        "import_id": None,
        "last_action": None,
        "bulk_created": False,
        "task": task,
        "project": 1,
        "completed_by": user,
        "updated_by": user,
        "parent_prediction": None,
        "parent_annotation": None,
        "last_created_by": None,
    } | more


def setup(config=CONFIG):
    return {
        "project": "1.1794962918",
        "schema": config,
        "hostname": "http://localhost:8080",
        "access_token": "0123456789abcdef0123456789abcdef01234567",
        "extra_params": None,
    }


def predict(tasks, config=CONFIG):
    return {
        "tasks": tasks,
        "project": "1.1794962918",
        "label_config": config,
        "params": {"login": None, "password": None, "context": None},
    }


def created(number, task_number, label, second=0, user=1, action="ANNOTATION_CREATED", **more):
    found = annotation(number, task_number, label, second, user, **more)
    return {"action": action, "annotation": found, "project": project(), "task": task(task_number)}


def updated(*given, **more):
    return created(*given, action="ANNOTATION_UPDATED", **more)


def deleted(*numbers):
    return {
        "action": "ANNOTATIONS_DELETED",
        "annotations": [{"id": number} for number in numbers],
        "project": project(),
    }


def training():
    return {"action": "START_TRAINING", "project": project()}


def exported(tasks):
    """Tasks with their annotations as the export has them: by number, lists of annotations."""
    return [task(number) | {"annotations": list(found)} for number, found in tasks.items()]
