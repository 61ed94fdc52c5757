"""Find the open trials of one run at once, however many trials there are."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_containment")]

    operations = [
        migrations.AddIndex(
            model_name="trial",
            index=models.Index(fields=["run", "state", "id"], name="trial_of_run"),
        ),
    ]
