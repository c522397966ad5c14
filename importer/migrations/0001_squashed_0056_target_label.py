"""All tables of a new database at once: what the replaced migrations make one after another.

A database that has some of them takes the rest of them, so they stay as they are (CONTRIBUTING.md, Migrations).
"""

import socket
import uuid
from importlib import import_module

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

# A key that Django cannot describe. It is no table of the importer, so the state of the models does not have it.
one_second_factor = import_module("importer.migrations.0035_one_second_factor")

REPLACED = """
    0001_initial 0002_lab 0003_history 0004_lab_of_job 0005_connections 0006_schedules 0007_watch 0008_channels
    0009_channel_rests 0010_ftp 0011_chunk_ascii 0012_rename_models 0013_channel_kinds 0014_connection_kinds
    0015_reading 0016_unchanged_rows 0017_lines 0018_time_zone 0019_needs_answer 0020_tries 0021_guess_count
    0022_null_marker 0023_people 0024_server_key 0025_left_changed 0026_audit_event 0027_asked_by 0028_limit_count
    0029_labels 0030_retention 0031_time_zone_of_person 0032_four_eyes 0033_past_keys 0034_access_token
    0035_one_second_factor 0036_schedule_starters 0037_follow_upload 0038_attempts 0039_chunk_worker
    0040_saved_filters 0041_row_fix 0042_examination 0043_imports_of_file 0044_attempts_words 0045_several_files
    0046_api 0047_schedule_words 0048_imports_by_end 0049_target_by_url 0050_restored_in_the_history
    0051_server_path 0052_total 0053_hosts 0054_store_etag 0055_copy_in_store 0056_target_label
"""


class Migration(migrations.Migration):
    initial = True

    replaces = [("importer", name) for name in REPLACED.split()]

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [
        migrations.CreateModel(
            name="Target",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "name",
                    models.CharField(
                        max_length=64,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator("^[\\w.-]+\\Z", "Letters, digits, _ . and - only.")
                        ],
                    ),
                ),
                ("host", models.CharField(max_length=255)),
                (
                    "port",
                    models.PositiveIntegerField(
                        default=3306,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(65535),
                        ],
                    ),
                ),
                ("user", models.CharField(max_length=128)),
                ("password_ciphertext", models.TextField(blank=True, editable=False)),
                ("database", models.CharField(max_length=64)),
                (
                    "tls",
                    models.CharField(
                        choices=[
                            ("off", "off (this machine or a trusted network only)"),
                            ("encrypt", "encrypted, certificate not checked"),
                            ("verify", "encrypted, certificate and host name checked"),
                        ],
                        default="verify",
                        max_length=8,
                    ),
                ),
                ("tls_ca", models.CharField(blank=True, max_length=255, verbose_name="CA file")),
                (
                    "ceiling",
                    models.PositiveSmallIntegerField(
                        default=8,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(64),
                        ],
                        verbose_name="max. parallel chunks",
                    ),
                ),
                ("findings", models.JSONField(blank=True, default=list)),
                ("round_trip_ms", models.FloatField(blank=True, editable=False, null=True)),
                ("bytes_per_second", models.FloatField(blank=True, editable=False, null=True)),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "clear_password",
                    models.BooleanField(
                        default=False, verbose_name="send the readable password if the server asks for it"
                    ),
                ),
                ("server_key", models.TextField(blank=True, verbose_name="server's public key")),
                ("ledger_swept_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("ledger_problem", models.CharField(blank=True, editable=False, max_length=255)),
                (
                    "needs_approval",
                    models.BooleanField(default=False, verbose_name="imports need another person's approval"),
                ),
                ("by_url", models.BooleanField(default=False, editable=False)),
                (
                    "label",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        max_length=32,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?\\Z",
                                "Use up to 32 small letters, digits and hyphens, such as eu-west.",
                            )
                        ],
                        verbose_name="loaded by workers with the label",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SourceConnection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "name",
                    models.CharField(
                        max_length=64,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator("^[\\w.-]+\\Z", "Letters, digits, _ . and - only.")
                        ],
                    ),
                ),
                ("kind", models.CharField(max_length=8)),
                ("base", models.CharField(max_length=768)),
                ("settings", models.JSONField(blank=True, default=dict)),
                ("secrets_ciphertext", models.TextField(blank=True, editable=False)),
                ("private_allowed", models.BooleanField(default=False, verbose_name="private addresses allowed")),
                ("findings", models.JSONField(blank=True, default=list)),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="SourceFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=255)),
                ("path", models.CharField(max_length=1024)),
                ("size", models.BigIntegerField()),
                ("received", models.BigIntegerField(default=0)),
                (
                    "status",
                    models.CharField(
                        choices=[("uploading", "Uploading"), ("ready", "Ready"), ("removed", "Removed")],
                        default="uploading",
                        max_length=10,
                    ),
                ),
                ("fingerprint", models.CharField(blank=True, db_index=True, max_length=32)),
                ("choices", models.JSONField(blank=True, default=dict)),
                ("owned", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("touched_at", models.DateTimeField(auto_now=True)),
                (
                    "uploaded_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("found_etag", models.CharField(blank=True, editable=False, max_length=255)),
                ("found_modified_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("found_name", models.CharField(blank=True, editable=False, max_length=1024)),
                (
                    "connection",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="files",
                        to="importer.sourceconnection",
                    ),
                ),
                ("file_count", models.PositiveSmallIntegerField(default=1, editable=False)),
                ("server_path", models.CharField(blank=True, editable=False, max_length=1024)),
                ("host", models.CharField(blank=True, default=socket.gethostname, editable=False, max_length=255)),
                ("store_etag", models.CharField(blank=True, editable=False, max_length=255)),
            ],
        ),
        migrations.CreateModel(
            name="MappingPreset",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("schema_name", models.CharField(max_length=64)),
                ("table_name", models.CharField(max_length=64)),
                ("dialect_json", models.JSONField()),
                ("mapping_json", models.JSONField()),
                ("fillings_json", models.JSONField(default=list)),
                ("options_json", models.JSONField(default=dict)),
                (
                    "name",
                    models.CharField(
                        max_length=64,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator("^[^\\x00-\\x1f\\x7f]+\\Z", "No control characters.")
                        ],
                    ),
                ),
                ("header", models.JSONField()),
                ("columns_json", models.JSONField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="presets", to="importer.target"
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="ImportJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("schema_name", models.CharField(max_length=64)),
                ("table_name", models.CharField(max_length=64)),
                ("dialect_json", models.JSONField()),
                ("mapping_json", models.JSONField()),
                ("fillings_json", models.JSONField(default=list)),
                ("options_json", models.JSONField(default=dict)),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("table_claim", models.CharField(blank=True, editable=False, max_length=200, null=True, unique=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("unapproved", "waits for approval"),
                            ("waiting", "Waiting"),
                            ("loading", "Loading"),
                            ("paused", "Paused"),
                            ("finishing", "Finishing"),
                            ("indexing", "Indexing"),
                            ("verifying", "Verifying"),
                            ("succeeded", "Succeeded"),
                            ("failing", "Failing"),
                            ("failed", "Failed"),
                            ("cancelling", "Cancelling"),
                            ("cancelled", "Cancelled"),
                        ],
                        db_index=True,
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("plan_json", models.JSONField()),
                ("new_table_json", models.JSONField(blank=True, default=dict)),
                ("parallelism", models.PositiveSmallIntegerField(default=2)),
                ("packing", models.CharField(blank=True, max_length=8)),
                ("plain_copy", models.CharField(blank=True, max_length=1024)),
                ("copied_bytes", models.BigIntegerField(default=0)),
                ("plain_size", models.BigIntegerField(default=0)),
                ("data_offset", models.BigIntegerField(default=0)),
                ("data_line", models.BigIntegerField(default=1)),
                (
                    "step",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "None"),
                            ("scan queued", "Scan Queued"),
                            ("scanning", "Scanning"),
                            ("verify queued", "Verify Queued"),
                            ("verifying", "Verifying"),
                            ("arrange queued", "Arrange Queued"),
                            ("arranging", "Arranging"),
                            ("restore queued", "Restore Queued"),
                            ("restoring", "Restoring"),
                            ("stage queued", "Stage Queued"),
                            ("staging", "Staging"),
                            ("finish queued", "Finish Queued"),
                            ("finishing", "Finishing"),
                            ("clean queued", "Clean Queued"),
                            ("cleaning", "Cleaning"),
                            ("keeping", "Keeping"),
                        ],
                        default="",
                        max_length=16,
                    ),
                ),
                ("step_attempt", models.PositiveSmallIntegerField(default=0)),
                ("step_lease", models.DateTimeField(blank=True, null=True)),
                ("step_failures", models.PositiveSmallIntegerField(default=0)),
                ("step_connection_id", models.BigIntegerField(blank=True, null=True)),
                ("arrangement_json", models.JSONField(blank=True, default=dict)),
                ("arranged", models.BooleanField(default=False)),
                ("unrestored", models.BooleanField(default=False)),
                ("obstacle", models.JSONField(blank=True, default=dict)),
                ("index_seconds", models.FloatField(default=0)),
                ("unchecked_json", models.JSONField(blank=True, default=list)),
                ("staged", models.BooleanField(default=False)),
                ("leftover", models.BooleanField(default=False)),
                ("finished", models.BooleanField(default=False)),
                ("kept_table", models.CharField(blank=True, max_length=64)),
                ("kept_rows", models.BigIntegerField(blank=True, null=True)),
                ("kept_bytes", models.BigIntegerField(blank=True, null=True)),
                ("restored_at", models.DateTimeField(blank=True, null=True)),
                ("scanned_bytes", models.BigIntegerField(default=0)),
                ("scanned_rows", models.BigIntegerField(default=0)),
                ("scan_finished", models.BooleanField(default=False)),
                ("loaded_rows", models.BigIntegerField(default=0)),
                ("replaced_rows", models.BigIntegerField(default=0)),
                ("skipped_rows", models.BigIntegerField(default=0)),
                ("rejected_rows", models.BigIntegerField(default=0)),
                ("committed_bytes", models.BigIntegerField(default=0)),
                ("reject_reasons", models.JSONField(blank=True, default=list)),
                ("notices", models.JSONField(blank=True, default=list)),
                ("problem", models.JSONField(blank=True, default=dict)),
                ("balanced", models.BooleanField(default=False)),
                ("version", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_index=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("scanned_at", models.DateTimeField(blank=True, null=True)),
                ("loaded_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("rows_per_second", models.FloatField(blank=True, db_index=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "rejects_of",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="loaded_again_by",
                        to="importer.importjob",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="jobs", to="importer.sourcefile"
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="jobs", to="importer.target"
                    ),
                ),
                ("pauses", models.PositiveSmallIntegerField(default=0)),
                ("reading_json", models.JSONField(blank=True, default=dict)),
                ("unchanged_rows", models.BigIntegerField(default=0)),
                ("lines_json", models.JSONField(blank=True, default=dict)),
                ("taken_at", models.DateTimeField(blank=True, null=True)),
                ("left_changed", models.BooleanField(default=False)),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("chunks_removed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("approval_asked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("approved_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "approved_by",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("approved_digest", models.CharField(blank=True, editable=False, max_length=64)),
                ("starters", models.JSONField(blank=True, default=list, editable=False)),
                ("awaits_bytes", models.BigIntegerField(default=0, editable=False)),
                ("end_unread", models.BooleanField(default=False, editable=False)),
                ("loading_seconds", models.FloatField(blank=True, null=True)),
                ("phase_since", models.DateTimeField(blank=True, null=True)),
                ("phases_json", models.JSONField(blank=True, default=dict)),
                ("total_seconds", models.FloatField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=1)),
                ("attempt_started_at", models.DateTimeField(blank=True, null=True)),
                ("past_attempts_json", models.JSONField(blank=True, default=list)),
                ("files_json", models.JSONField(blank=True, default=list, editable=False)),
                ("left_out_json", models.JSONField(blank=True, default=list, editable=False)),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(fields=["source", "target", "schema_name", "table_name"], name="imports_of_file"),
                    models.Index(fields=["finished_at"], name="imports_by_end"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Chunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("rows", models.BigIntegerField()),
                ("first_line", models.BigIntegerField()),
                ("first_row", models.BigIntegerField(default=1)),
                ("digest", models.CharField(max_length=16)),
                ("null_word", models.BooleanField(default=False)),
                ("suspect", models.BooleanField(default=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("queued", "Queued"),
                            ("loading", "Loading"),
                            ("loaded", "Loaded"),
                            ("failed", "Failed"),
                        ],
                        default="pending",
                        max_length=8,
                    ),
                ),
                ("run", models.UUIDField(blank=True, editable=False, null=True)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("deaths", models.PositiveSmallIntegerField(default=0)),
                ("lease", models.DateTimeField(blank=True, null=True)),
                ("connection_id", models.BigIntegerField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("loaded_rows", models.BigIntegerField(default=0)),
                ("replaced_rows", models.BigIntegerField(default=0)),
                ("skipped_rows", models.BigIntegerField(default=0)),
                ("rejected_rows", models.BigIntegerField(default=0)),
                ("reject_reasons", models.JSONField(blank=True, default=list)),
                ("notices", models.JSONField(blank=True, default=list)),
                ("timings", models.JSONField(blank=True, default=dict)),
                ("problem", models.JSONField(blank=True, default=dict)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="chunks", to="importer.importjob"
                    ),
                ),
                ("ascii", models.BooleanField(default=False)),
                ("unchanged_rows", models.BigIntegerField(default=0)),
                ("null_marker", models.BooleanField(default=True)),
                ("worker", models.CharField(blank=True, editable=False, max_length=100)),
                ("file", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "ordering": ["number"],
                "indexes": [
                    models.Index(fields=["job", "status"], name="importer_ch_job_id_f3d35b_idx"),
                    models.Index(fields=["status", "lease"], name="importer_ch_status_3f9328_idx"),
                ],
                "constraints": [models.UniqueConstraint(fields=("job", "number"), name="one_chunk_per_number")],
            },
        ),
        migrations.CreateModel(
            name="Lab",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("schema_name", models.CharField(max_length=64)),
                ("table_name", models.CharField(max_length=64)),
                ("dialect_json", models.JSONField()),
                ("mapping_json", models.JSONField()),
                ("fillings_json", models.JSONField(default=list)),
                ("options_json", models.JSONField(default=dict)),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("source_name", models.CharField(max_length=255)),
                ("target_claim", models.BigIntegerField(blank=True, editable=False, null=True, unique=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("preparing", "Preparing"),
                            ("running", "Running"),
                            ("ending", "Ending"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        db_index=True,
                        default="waiting",
                        max_length=9,
                    ),
                ),
                (
                    "becomes",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("waiting", "Waiting"),
                            ("preparing", "Preparing"),
                            ("running", "Running"),
                            ("ending", "Ending"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        max_length=9,
                    ),
                ),
                ("problem", models.JSONField(blank=True, default=dict)),
                ("grid_json", models.JSONField()),
                ("sample_json", models.JSONField()),
                ("budget_json", models.JSONField()),
                ("repeats", models.PositiveSmallIntegerField()),
                ("seed", models.PositiveIntegerField()),
                ("scratch_schema", models.CharField(max_length=64)),
                ("beside_imports", models.BooleanField(default=False)),
                ("planned_json", models.JSONField(default=dict)),
                ("combinations_json", models.JSONField(default=list)),
                ("left_out_json", models.JSONField(default=list)),
                ("sample_rows", models.BigIntegerField(default=0)),
                ("sample_bytes", models.BigIntegerField(default=0)),
                ("table_bytes", models.BigIntegerField(default=0)),
                ("waits_for", models.CharField(blank=True, max_length=200)),
                ("lease", models.DateTimeField(blank=True, null=True)),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("connection_id", models.BigIntegerField(blank=True, null=True)),
                ("version", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_index=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("prepared_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="importer.sourcefile",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="labs",
                        to="importer.sourcefile",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="labs", to="importer.target"
                    ),
                ),
                (
                    "of_job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="labs",
                        to="importer.importjob",
                    ),
                ),
                ("approval_asked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("approved_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "approved_by",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("approved_digest", models.CharField(blank=True, editable=False, max_length=64)),
                ("starters", models.JSONField(blank=True, default=list, editable=False)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Trial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("round", models.PositiveSmallIntegerField()),
                ("combination", models.PositiveSmallIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("left out", "Left Out"),
                        ],
                        default="pending",
                        max_length=8,
                    ),
                ),
                ("begun", models.PositiveSmallIntegerField(default=0)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("rows", models.BigIntegerField(default=0)),
                ("rows_per_second", models.FloatField(blank=True, null=True)),
                ("timings", models.JSONField(blank=True, default=dict)),
                ("ran_as", models.JSONField(blank=True, default=dict)),
                ("table_bytes", models.BigIntegerField(default=0)),
                ("problem", models.JSONField(blank=True, default=dict)),
                (
                    "lab",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trials", to="importer.lab"
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "constraints": [models.UniqueConstraint(fields=("lab", "number"), name="one_trial_per_number")],
            },
        ),
        migrations.AddField(
            model_name="importjob",
            name="trial",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="job",
                to="importer.trial",
            ),
        ),
        migrations.CreateModel(
            name="JobRecord",
            fields=[
                (
                    "job",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="record",
                        serialize=False,
                        to="importer.importjob",
                    ),
                ),
                ("reasons", models.JSONField(default=list)),
                ("changed", models.JSONField(default=list)),
                ("chunk_timings", models.JSONField(default=dict)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("ended_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("kept_chunks", models.JSONField(default=dict)),
                ("key", models.UUIDField(blank=True, null=True)),
                ("ledger_removed", models.BooleanField(default=False)),
                ("schema_name", models.CharField(blank=True, max_length=64)),
                ("table_name", models.CharField(blank=True, max_length=64)),
                (
                    "target",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="importer.target",
                    ),
                ),
                ("past_keys", models.JSONField(blank=True, default=list)),
            ],
        ),
        migrations.CreateModel(
            name="JobFact",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "name", "record_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=64)),
                ("number", models.FloatField(null=True)),
                ("text", models.CharField(max_length=255)),
                (
                    "record",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="facts", to="importer.jobrecord"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["name", "record", "number", "text"], name="column_of_facts")],
            },
        ),
        migrations.CreateModel(
            name="Schedule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("schema_name", models.CharField(max_length=64)),
                ("table_name", models.CharField(max_length=64)),
                ("dialect_json", models.JSONField()),
                ("mapping_json", models.JSONField()),
                ("fillings_json", models.JSONField(default=list)),
                ("options_json", models.JSONField(default=dict)),
                (
                    "name",
                    models.CharField(
                        max_length=64,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator("^[^\\x00-\\x1f\\x7f]+\\Z", "No control characters.")
                        ],
                    ),
                ),
                ("header", models.JSONField()),
                ("columns_json", models.JSONField()),
                ("pattern", models.CharField(max_length=512)),
                ("subfolders", models.BooleanField(default=False)),
                (
                    "trigger",
                    models.CharField(
                        choices=[
                            ("cron", "at set times"),
                            ("every", "at an interval"),
                            ("arrival", "when a new file appears"),
                        ],
                        max_length=8,
                    ),
                ),
                ("cron", models.CharField(blank=True, max_length=200)),
                ("every_minutes", models.PositiveIntegerField(blank=True, null=True)),
                ("zone", models.CharField(default="UTC", max_length=64)),
                (
                    "overlap",
                    models.CharField(
                        choices=[("skip", "leave the new run out"), ("queue", "let the new run wait")],
                        default="queue",
                        max_length=8,
                    ),
                ),
                (
                    "misfire",
                    models.CharField(
                        choices=[
                            ("skip", "leave them all out"),
                            ("once", "run once, for the latest"),
                            ("all", "run all, up to a number"),
                        ],
                        default="once",
                        max_length=8,
                    ),
                ),
                ("misfire_most", models.PositiveSmallIntegerField(default=10)),
                ("backoff_seconds", models.PositiveIntegerField(default=60)),
                ("deadline_minutes", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "no_file",
                    models.CharField(
                        choices=[("fine", "is fine"), ("warn", "sends a notification"), ("fail", "is a failure")],
                        default="fine",
                        max_length=8,
                    ),
                ),
                (
                    "known_by",
                    models.CharField(
                        choices=[("content", "its content"), ("stat", "its name, size and time")],
                        default="content",
                        max_length=8,
                    ),
                ),
                (
                    "afterwards",
                    models.CharField(
                        choices=[("keep", "leave it where it is"), ("move", "move it"), ("delete", "delete it")],
                        default="keep",
                        max_length=8,
                    ),
                ),
                ("move_to", models.CharField(blank=True, max_length=512)),
                (
                    "drift",
                    models.CharField(
                        choices=[("stop", "stop, and show the difference"), ("add", "add new columns to the table")],
                        default="stop",
                        max_length=8,
                    ),
                ),
                ("lateness_minutes", models.PositiveIntegerField(blank=True, null=True)),
                ("rejects_limit", models.PositiveBigIntegerField(blank=True, null=True)),
                ("paused", models.BooleanField(default=False)),
                ("next_due_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("problem", models.JSONField(blank=True, default=dict)),
                ("version", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="schedules",
                        to="importer.sourceconnection",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="schedules", to="importer.target"
                    ),
                ),
                ("starters", models.JSONField(blank=True, default=list, editable=False)),
                ("most_attempts", models.PositiveSmallIntegerField(default=5)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Channel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "name",
                    models.CharField(
                        max_length=64,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator("^[\\w.-]+\\Z", "Letters, digits, _ . and - only.")
                        ],
                    ),
                ),
                ("kind", models.CharField(max_length=8)),
                ("on", models.BooleanField(default=True)),
                ("addresses", models.TextField(blank=True)),
                ("url", models.CharField(blank=True, max_length=500, verbose_name="URL")),
                ("private_allowed", models.BooleanField(default=False, verbose_name="private addresses allowed")),
                ("secret_ciphertext", models.TextField(blank=True, editable=False)),
                ("events", models.JSONField(blank=True, default=list)),
                ("most_rejects", models.PositiveBigIntegerField(default=0, verbose_name="allowed rejected rows")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("failures", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("free_at", models.DateTimeField(blank=True, editable=False, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="ScheduleRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("due_at", models.DateTimeField()),
                ("last_due_at", models.DateTimeField(blank=True, null=True)),
                ("due_times", models.PositiveIntegerField(default=1)),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("due", "Due"),
                            ("by hand", "By Hand"),
                            ("arrival", "Arrival"),
                            ("catch-up", "Catch Up"),
                        ],
                        max_length=8,
                    ),
                ),
                ("moment", models.DateTimeField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("finding", "Finding"),
                            ("loading", "Loading"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("needs an answer", "Needs Answer"),
                            ("cancelled", "Cancelled"),
                            ("skipped", "Skipped"),
                        ],
                        default="waiting",
                        max_length=15,
                    ),
                ),
                ("schedule_claim", models.BigIntegerField(blank=True, editable=False, null=True, unique=True)),
                ("lease", models.DateTimeField(blank=True, null=True)),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("woken_at", models.DateTimeField(blank=True, null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("deadline_at", models.DateTimeField(blank=True, null=True)),
                ("late_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("looks", models.PositiveSmallIntegerField(default=0)),
                ("found_files", models.PositiveIntegerField(default=0)),
                ("known_files", models.PositiveIntegerField(default=0)),
                ("problem", models.JSONField(blank=True, default=dict)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("events", models.JSONField(blank=True, default=list)),
                ("version", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "schedule",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="importer.schedule"
                    ),
                ),
            ],
            options={
                "ordering": ["-due_at", "-pk"],
                "indexes": [models.Index(fields=["status", "woken_at"], name="run_by_status")],
                "constraints": [models.UniqueConstraint(fields=("schedule", "due_at"), name="one_run_per_due_time")],
            },
        ),
        migrations.CreateModel(
            name="DiscoveredFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=1024)),
                ("size", models.BigIntegerField(blank=True, null=True)),
                ("modified_at", models.DateTimeField(blank=True, null=True)),
                ("etag", models.CharField(blank=True, max_length=255)),
                ("settled", models.BooleanField(default=False)),
                ("identity", models.CharField(blank=True, max_length=32)),
                ("fingerprint", models.CharField(blank=True, max_length=32)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("found", "Found"),
                            ("fetched", "Fetched"),
                            ("loading", "Loading"),
                            ("loaded", "Loaded"),
                            ("already loaded", "Already Loaded"),
                            ("failed", "Failed"),
                            ("needs an answer", "Needs Answer"),
                            ("failed before", "Failed Before"),
                            ("still written", "Still Written"),
                            ("gone", "Gone"),
                            ("left", "Left"),
                        ],
                        default="found",
                        max_length=15,
                    ),
                ),
                ("problem", models.JSONField(blank=True, default=dict)),
                (
                    "done",
                    models.CharField(
                        blank=True,
                        choices=[("", "Nothing"), ("moved", "Moved"), ("deleted", "Deleted"), ("failed", "Failed")],
                        default="",
                        max_length=7,
                    ),
                ),
                ("done_problem", models.JSONField(blank=True, default=dict)),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="picked",
                        to="importer.importjob",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="picked",
                        to="importer.sourcefile",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="files", to="importer.schedulerun"
                    ),
                ),
                (
                    "schedule",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="files", to="importer.schedule"
                    ),
                ),
            ],
            options={
                "ordering": ["name", "pk"],
                "indexes": [
                    models.Index(fields=["schedule", "identity"], name="picked_by_identity"),
                    models.Index(fields=["schedule", "fingerprint"], name="picked_by_fingerprint"),
                    models.Index(fields=["run", "outcome"], name="picked_by_outcome"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("events", models.JSONField(default=list)),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="subscriptions", to="importer.channel"
                    ),
                ),
                (
                    "schedule",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="importer.schedule",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("schedule", "channel"), name="one_hearing_per_channel")
                ],
            },
        ),
        migrations.CreateModel(
            name="Notification",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "event",
                    models.CharField(
                        choices=[
                            ("failed", "an import failed"),
                            ("recovered", "imports work again after one failed"),
                            ("rejects", "more rows were rejected than the limit"),
                            ("late", "a schedule is late"),
                            ("no_file", "a schedule found no file"),
                            ("regression", "an import was slower than usual"),
                            ("approval", "an import or a lab waits for another person's approval"),
                        ],
                        max_length=16,
                    ),
                ),
                ("once", models.CharField(max_length=120, unique=True)),
                ("payload", models.JSONField()),
                (
                    "status",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("sent", "Sent"), ("given up", "Given Up")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_at", models.DateTimeField()),
                ("problem", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_index=True)),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notifications", to="importer.channel"
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="notifications",
                        to="importer.importjob",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="notifications",
                        to="importer.schedulerun",
                    ),
                ),
                (
                    "schedule",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="notifications",
                        to="importer.schedule",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["status", "next_at"], name="notices_due")],
            },
        ),
        migrations.CreateModel(
            name="Person",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="person",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "viewer: sees imports, changes nothing"),
                            ("operator", "operator: imports where a grant says so"),
                            ("admin", "admin: may do everything, also to people and grants"),
                        ],
                        default="viewer",
                        max_length=8,
                    ),
                ),
                ("time_zone", models.CharField(blank=True, max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("target", "Target"), ("connection", "Connection"), ("channel", "Channel")],
                        max_length=10,
                    ),
                ),
                (
                    "level",
                    models.PositiveSmallIntegerField(choices=[(1, "look"), (2, "load"), (3, "administer")], default=2),
                ),
                ("tables", models.JSONField(blank=True, default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "channel",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to="importer.channel",
                    ),
                ),
                (
                    "connection",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to="importer.sourceconnection",
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to="auth.group",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to="importer.target",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("group__isnull", True), ("user__isnull", False)),
                            models.Q(("group__isnull", False), ("user__isnull", True)),
                            _connector="OR",
                        ),
                        name="grant_has_one_subject",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ("actor_name", models.CharField(blank=True, max_length=150)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("action", models.CharField(max_length=64)),
                ("object_kind", models.CharField(blank=True, max_length=32)),
                ("object_id", models.CharField(blank=True, max_length=64)),
                ("object_name", models.CharField(blank=True, max_length=255)),
                ("target", models.CharField(blank=True, max_length=64)),
                ("table", models.CharField(blank=True, max_length=130)),
                (
                    "outcome",
                    models.CharField(
                        choices=[("done", "Done"), ("refused", "Refused"), ("failed", "Failed")],
                        default="done",
                        max_length=8,
                    ),
                ),
                ("details", models.JSONField(blank=True, default=dict)),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LimitCount",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("began", models.DateTimeField()),
                ("uses", models.PositiveIntegerField(default=0)),
                ("kept_until", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="RetentionPolicy",
            fields=[
                ("name", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("days", models.PositiveIntegerField(blank=True, null=True)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "changed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AccessToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_from", models.CharField(blank=True, max_length=45)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="access_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("scopes", models.JSONField(default=list)),
            ],
            options={
                "verbose_name": "token",
                "constraints": [models.UniqueConstraint(fields=("user", "name"), name="token_name_of_person")],
            },
        ),
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64)),
                ("query", models.CharField(max_length=1024)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_filters",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "name"), name="one_filter_of_a_name")],
            },
        ),
        migrations.CreateModel(
            name="RowFix",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(editable=False)),
                ("chunk", models.PositiveIntegerField()),
                ("place", models.PositiveIntegerField()),
                ("texts", models.JSONField()),
                ("taken_at", models.DateTimeField(blank=True, null=True)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="row_fixes", to="importer.importjob"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "taken_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="importer.importjob",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("job", "key", "chunk", "place", "person"), name="one_fix_of_a_row")
                ],
            },
        ),
        migrations.CreateModel(
            name="Examination",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("basis_json", models.JSONField(editable=False)),
                ("digest", models.CharField(editable=False, max_length=64)),
                ("position_json", models.JSONField(default=dict, editable=False)),
                ("found_json", models.JSONField(default=dict, editable=False)),
                ("done", models.BooleanField(default=False, editable=False)),
                ("attempt", models.PositiveIntegerField(default=0, editable=False)),
                ("lease", models.DateTimeField(editable=False, null=True)),
                (
                    "source",
                    models.OneToOneField(
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="examination",
                        to="importer.sourcefile",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SourceMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveSmallIntegerField(editable=False)),
                (
                    "file",
                    models.ForeignKey(
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="member_of",
                        to="importer.sourcefile",
                    ),
                ),
                (
                    "whole",
                    models.ForeignKey(
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="importer.sourcefile",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("whole", "place"), name="one_file_per_place")],
            },
        ),
        migrations.CreateModel(
            name="AnsweredRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=255)),
                ("digest", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("location", models.CharField(blank=True, max_length=255)),
                ("body", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "key"), name="one_answer_to_a_key")],
            },
        ),
        migrations.CreateModel(
            name="Total",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        choices=[
                            ("rows", "Rows"),
                            ("bytes", "Bytes"),
                            ("chunks", "Chunks"),
                            ("chunk seconds", "Chunk Seconds"),
                            ("ended", "Ended"),
                            ("retries", "Retries"),
                            ("expired", "Expired"),
                        ],
                        max_length=16,
                    ),
                ),
                ("target", models.CharField(blank=True, max_length=64)),
                ("kind", models.CharField(blank=True, max_length=32)),
                ("amount", models.FloatField(default=0)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("name", "target", "kind"), name="one_total_of_a_kind")],
            },
        ),
        # What has a place in a new database, of all that the replaced migrations did to rows.
        migrations.RunPython(one_second_factor.add, one_second_factor.remove, atomic=False),
    ]
