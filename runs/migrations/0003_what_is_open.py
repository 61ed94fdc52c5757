"""Find what is open, claimed or not over at once, however many runs and trials there are."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_containment")]

    operations = [
        migrations.RemoveIndex(model_name="trial", name="trial_open"),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("finished_at__isnull", True)), fields=["id"], name="run_not_over"
            ),
        ),
        migrations.AddIndex(
            model_name="trial",
            index=models.Index(
                condition=models.Q(("claimed_until__isnull", False)),
                fields=["claimed_until"],
                name="trial_claimed",
            ),
        ),
        migrations.AddIndex(
            model_name="trial",
            index=models.Index(fields=["run", "state", "id"], name="trial_of_run"),
        ),
        migrations.AddIndex(
            model_name="trial",
            index=models.Index(fields=["run", "state", "stage", "id"], name="trial_in_queue"),
        ),
    ]
