"""Keep the level of isolation of a run, and how the commands of each round were held."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="sandbox",
            field=models.CharField(
                choices=[
                    ("bubblewrap", "bubblewrap"),
                    ("docker", "docker"),
                    ("podman", "podman"),
                    ("none", "none"),
                ],
                default="none",
                help_text="The level of isolation that it was launched with.",
                max_length=16,
            ),
        ),
        migrations.CreateModel(
            name="ContainmentRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("brief", "brief"),
                            ("code", "code"),
                            ("deploy", "deploy"),
                            ("judge", "judge"),
                            ("refute", "refute"),
                            ("audit", "audit"),
                            ("attribute", "attribute"),
                            ("measure", "measure"),
                            ("feedback", "feedback"),
                            ("score", "score"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "use",
                    models.CharField(
                        choices=[
                            ("agent", "agent"),
                            ("install", "install"),
                            ("build", "build"),
                            ("serve", "serve"),
                            ("case", "case"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "level",
                    models.CharField(
                        choices=[
                            ("bubblewrap", "bubblewrap"),
                            ("docker", "docker"),
                            ("podman", "podman"),
                            ("none", "none"),
                        ],
                        max_length=16,
                    ),
                ),
                ("processes_left", models.PositiveIntegerField(default=0)),
                ("ports_left", models.JSONField(blank=True, default=list)),
                (
                    "files_left",
                    models.JSONField(blank=True, default=list, help_text="Outside the workspace."),
                ),
                ("seconds_to_end", models.FloatField(default=0, help_text="The longest that an end took.")),
                (
                    "limits_hit",
                    models.JSONField(
                        blank=True, default=list, help_text='[{"kind": ..., "limit": ..., "seen": ...}]'
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="containments",
                        to="runs.round",
                    ),
                ),
            ],
            options={
                "verbose_name": "containment report",
                "ordering": ["round", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("round", "stage", "use", "level"), name="containment_once_a_use"
                    )
                ],
            },
        ),
    ]
