-- The tables after 0062_event_succeeded. Made by `make tables`; do not edit.
-- next --
CREATE TABLE "account_emailaddress" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "verified" bool NOT NULL, "primary" bool NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "email" varchar(254) NOT NULL);
-- next --
CREATE TABLE "account_emailconfirmation" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "created" datetime NOT NULL, "sent" datetime NULL, "key" varchar(64) NOT NULL UNIQUE, "email_address_id" integer NOT NULL REFERENCES "account_emailaddress" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "auth_group" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(150) NOT NULL UNIQUE);
-- next --
CREATE TABLE "auth_group_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "group_id" integer NOT NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED, "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "auth_permission" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "content_type_id" integer NOT NULL REFERENCES "django_content_type" ("id") DEFERRABLE INITIALLY DEFERRED, "codename" varchar(100) NOT NULL, "name" varchar(255) NOT NULL);
-- next --
CREATE TABLE "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "password" varchar(128) NOT NULL, "last_login" datetime NULL, "is_superuser" bool NOT NULL, "username" varchar(150) NOT NULL UNIQUE, "last_name" varchar(150) NOT NULL, "email" varchar(254) NOT NULL, "is_staff" bool NOT NULL, "is_active" bool NOT NULL, "date_joined" datetime NOT NULL, "first_name" varchar(150) NOT NULL);
-- next --
CREATE TABLE "auth_user_groups" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "group_id" integer NOT NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "auth_user_user_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "django_content_type" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app_label" varchar(100) NOT NULL, "model" varchar(100) NOT NULL);
-- next --
CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app" varchar(255) NOT NULL, "name" varchar(255) NOT NULL, "applied" datetime NOT NULL);
-- next --
CREATE TABLE "django_session" ("session_key" varchar(40) NOT NULL PRIMARY KEY, "session_data" text NOT NULL, "expire_date" datetime NOT NULL);
-- next --
CREATE TABLE "importer_accesstoken" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(80) NOT NULL, "digest" varchar(64) NOT NULL UNIQUE, "created_at" datetime NOT NULL, "expires_at" datetime NOT NULL, "last_used_at" datetime NULL, "last_used_from" varchar(45) NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "scopes" text NOT NULL CHECK ((JSON_VALID("scopes") OR "scopes" IS NULL)), CONSTRAINT "token_name_of_person" UNIQUE ("user_id", "name"));
-- next --
CREATE TABLE "importer_answeredrequest" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" varchar(255) NOT NULL, "digest" varchar(64) NOT NULL, "status" smallint unsigned NULL CHECK ("status" >= 0), "location" varchar(255) NOT NULL, "body" text NOT NULL, "created_at" datetime NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_answer_to_a_key" UNIQUE ("user_id", "key"));
-- next --
CREATE TABLE "importer_auditevent" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "actor_name" varchar(150) NOT NULL, "address" varchar(45) NOT NULL, "action" varchar(64) NOT NULL, "object_kind" varchar(32) NOT NULL, "object_id" varchar(64) NOT NULL, "object_name" varchar(255) NOT NULL, "target" varchar(64) NOT NULL, "table" varchar(130) NOT NULL, "outcome" varchar(8) NOT NULL, "details" text NOT NULL CHECK ((JSON_VALID("details") OR "details" IS NULL)), "actor_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "importer_channel" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" char(32) NOT NULL UNIQUE, "name" varchar(64) NOT NULL UNIQUE, "kind" varchar(8) NOT NULL, "on" bool NOT NULL, "addresses" text NOT NULL, "url" varchar(500) NOT NULL, "private_allowed" bool NOT NULL, "secret_ciphertext" text NOT NULL, "events" text NOT NULL CHECK ((JSON_VALID("events") OR "events" IS NULL)), "most_rejects" bigint unsigned NOT NULL CHECK ("most_rejects" >= 0), "created_at" datetime NOT NULL, "failures" smallint unsigned NOT NULL CHECK ("failures" >= 0), "free_at" datetime NULL);
-- next --
CREATE TABLE "importer_chunk" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer unsigned NOT NULL CHECK ("number" >= 0), "offset" bigint NOT NULL, "length" bigint NOT NULL, "rows" bigint NOT NULL, "first_line" bigint NOT NULL, "first_row" bigint NOT NULL, "digest" varchar(16) NOT NULL, "null_word" bool NOT NULL, "suspect" bool NOT NULL, "status" varchar(8) NOT NULL, "run" char(32) NULL, "attempt" smallint unsigned NOT NULL CHECK ("attempt" >= 0), "deaths" smallint unsigned NOT NULL CHECK ("deaths" >= 0), "lease" datetime NULL, "connection_id" bigint NULL, "started_at" datetime NULL, "finished_at" datetime NULL, "loaded_rows" bigint NOT NULL, "replaced_rows" bigint NOT NULL, "skipped_rows" bigint NOT NULL, "rejected_rows" bigint NOT NULL, "reject_reasons" text NOT NULL CHECK ((JSON_VALID("reject_reasons") OR "reject_reasons" IS NULL)), "notices" text NOT NULL CHECK ((JSON_VALID("notices") OR "notices" IS NULL)), "timings" text NOT NULL CHECK ((JSON_VALID("timings") OR "timings" IS NULL)), "problem" text NOT NULL CHECK ((JSON_VALID("problem") OR "problem" IS NULL)), "job_id" bigint NOT NULL REFERENCES "importer_importjob" ("id") DEFERRABLE INITIALLY DEFERRED, "ascii" bool NOT NULL, "unchanged_rows" bigint NOT NULL, "null_marker" bool NOT NULL, "worker" varchar(100) NOT NULL, "file" smallint unsigned NOT NULL CHECK ("file" >= 0), CONSTRAINT "one_chunk_per_number" UNIQUE ("job_id", "number"));
-- next --
CREATE TABLE "importer_discoveredfile" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(1024) NOT NULL, "size" bigint NULL, "modified_at" datetime NULL, "etag" varchar(255) NOT NULL, "settled" bool NOT NULL, "identity" varchar(32) NOT NULL, "fingerprint" varchar(32) NOT NULL, "outcome" varchar(15) NOT NULL, "problem" text NOT NULL CHECK ((JSON_VALID("problem") OR "problem" IS NULL)), "done" varchar(7) NOT NULL, "done_problem" text NOT NULL CHECK ((JSON_VALID("done_problem") OR "done_problem" IS NULL)), "job_id" bigint NULL REFERENCES "importer_importjob" ("id") DEFERRABLE INITIALLY DEFERRED, "source_id" bigint NULL REFERENCES "importer_sourcefile" ("id") DEFERRABLE INITIALLY DEFERRED, "run_id" bigint NOT NULL REFERENCES "importer_schedulerun" ("id") DEFERRABLE INITIALLY DEFERRED, "schedule_id" bigint NOT NULL REFERENCES "importer_schedule" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "importer_examination" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "basis_json" text NOT NULL CHECK ((JSON_VALID("basis_json") OR "basis_json" IS NULL)), "digest" varchar(64) NOT NULL, "position_json" text NOT NULL CHECK ((JSON_VALID("position_json") OR "position_json" IS NULL)), "found_json" text NOT NULL CHECK ((JSON_VALID("found_json") OR "found_json" IS NULL)), "done" bool NOT NULL, "attempt" integer unsigned NOT NULL CHECK ("attempt" >= 0), "lease" datetime NULL, "source_id" bigint NOT NULL UNIQUE REFERENCES "importer_sourcefile" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "importer_grant" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(10) NOT NULL, "level" smallint unsigned NOT NULL CHECK ("level" >= 0), "tables" text NOT NULL CHECK ((JSON_VALID("tables") OR "tables" IS NULL)), "created_at" datetime NOT NULL, "channel_id" bigint NULL REFERENCES "importer_channel" ("id") DEFERRABLE INITIALLY DEFERRED, "connection_id" bigint NULL REFERENCES "importer_sourceconnection" ("id") DEFERRABLE INITIALLY DEFERRED, "group_id" integer NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED, "target_id" bigint NULL REFERENCES "importer_target" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "grant_has_one_subject" CHECK ((("group_id" IS NULL AND "user_id" IS NOT NULL) OR ("group_id" IS NOT NULL AND "user_id" IS NULL))));
-- next --
CREATE TABLE "importer_importjob" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "schema_name" varchar(64) NOT NULL, "table_name" varchar(64) NOT NULL, "dialect_json" text NOT NULL CHECK ((JSON_VALID("dialect_json") OR "dialect_json" IS NULL)), "mapping_json" text NOT NULL CHECK ((JSON_VALID("mapping_json") OR "mapping_json" IS NULL)), "fillings_json" text NOT NULL CHECK ((JSON_VALID("fillings_json") OR "fillings_json" IS NULL)), "options_json" text NOT NULL CHECK ((JSON_VALID("options_json") OR "options_json" IS NULL)), "key" char(32) NOT NULL UNIQUE, "table_claim" varchar(200) NULL UNIQUE, "status" varchar(10) NOT NULL, "plan_json" text NOT NULL CHECK ((JSON_VALID("plan_json") OR "plan_json" IS NULL)), "new_table_json" text NOT NULL CHECK ((JSON_VALID("new_table_json") OR "new_table_json" IS NULL)), "parallelism" smallint unsigned NOT NULL CHECK ("parallelism" >= 0), "packing" varchar(8) NOT NULL, "plain_copy" varchar(1024) NOT NULL, "copied_bytes" bigint NOT NULL, "plain_size" bigint NOT NULL, "data_offset" bigint NOT NULL, "data_line" bigint NOT NULL, "step" varchar(16) NOT NULL, "step_attempt" smallint unsigned NOT NULL CHECK ("step_attempt" >= 0), "step_lease" datetime NULL, "step_failures" smallint unsigned NOT NULL CHECK ("step_failures" >= 0), "step_connection_id" bigint NULL, "arrangement_json" text NOT NULL CHECK ((JSON_VALID("arrangement_json") OR "arrangement_json" IS NULL)), "arranged" bool NOT NULL, "unrestored" bool NOT NULL, "obstacle" text NOT NULL CHECK ((JSON_VALID("obstacle") OR "obstacle" IS NULL)), "index_seconds" real NOT NULL, "unchecked_json" text NOT NULL CHECK ((JSON_VALID("unchecked_json") OR "unchecked_json" IS NULL)), "staged" bool NOT NULL, "leftover" bool NOT NULL, "finished" bool NOT NULL, "kept_table" varchar(64) NOT NULL, "kept_rows" bigint NULL, "kept_bytes" bigint NULL, "restored_at" datetime NULL, "scanned_bytes" bigint NOT NULL, "scanned_rows" bigint NOT NULL, "scan_finished" bool NOT NULL, "loaded_rows" bigint NOT NULL, "replaced_rows" bigint NOT NULL, "skipped_rows" bigint NOT NULL, "rejected_rows" bigint NOT NULL, "committed_bytes" bigint NOT NULL, "reject_reasons" text NOT NULL CHECK ((JSON_VALID("reject_reasons") OR "reject_reasons" IS NULL)), "notices" text NOT NULL CHECK ((JSON_VALID("notices") OR "notices" IS NULL)), "problem" text NOT NULL CHECK ((JSON_VALID("problem") OR "problem" IS NULL)), "balanced" bool NOT NULL, "version" integer unsigned NOT NULL CHECK ("version" >= 0), "created_at" datetime NOT NULL, "started_at" datetime NULL, "scanned_at" datetime NULL, "loaded_at" datetime NULL, "finished_at" datetime NULL, "rows_per_second" real NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "source_id" bigint NOT NULL REFERENCES "importer_sourcefile" ("id") DEFERRABLE INITIALLY DEFERRED, "target_id" bigint NOT NULL REFERENCES "importer_target" ("id") DEFERRABLE INITIALLY DEFERRED, "pauses" smallint unsigned NOT NULL CHECK ("pauses" >= 0), "reading_json" text NOT NULL CHECK ((JSON_VALID("reading_json") OR "reading_json" IS NULL)), "unchanged_rows" bigint NOT NULL, "lines_json" text NOT NULL CHECK ((JSON_VALID("lines_json") OR "lines_json" IS NULL)), "taken_at" datetime NULL, "left_changed" bool NOT NULL, "asked_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "chunks_removed_at" datetime NULL, "approval_asked_at" datetime NULL, "approved_at" datetime NULL, "approved_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "approved_digest" varchar(64) NOT NULL, "starters" text NOT NULL CHECK ((JSON_VALID("starters") OR "starters" IS NULL)), "awaits_bytes" bigint NOT NULL, "end_unread" bool NOT NULL, "loading_seconds" real NULL, "phase_since" datetime NULL, "phases_json" text NOT NULL CHECK ((JSON_VALID("phases_json") OR "phases_json" IS NULL)), "total_seconds" real NULL, "attempts" smallint unsigned NOT NULL CHECK ("attempts" >= 0), "attempt_started_at" datetime NULL, "past_attempts_json" text NOT NULL CHECK ((JSON_VALID("past_attempts_json") OR "past_attempts_json" IS NULL)), "files_json" text NOT NULL CHECK ((JSON_VALID("files_json") OR "files_json" IS NULL)), "left_out_json" text NOT NULL CHECK ((JSON_VALID("left_out_json") OR "left_out_json" IS NULL)), "trial_id" bigint NULL UNIQUE REFERENCES "importer_trial" ("id") DEFERRABLE INITIALLY DEFERRED, "rejects_of_id" bigint NULL REFERENCES "importer_importjob" ("id") DEFERRABLE INITIALLY DEFERRED, "worked_at" datetime NULL);
-- next --
CREATE TABLE "importer_jobfact" ("name" varchar(64) NOT NULL, "number" real NULL, "text" varchar(255) NOT NULL, "record_id" bigint NOT NULL REFERENCES "importer_jobrecord" ("job_id") DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY ("name", "record_id"));
-- next --
CREATE TABLE "importer_jobrecord" ("job_id" bigint NOT NULL PRIMARY KEY, "reasons" text NOT NULL CHECK ((JSON_VALID("reasons") OR "reasons" IS NULL)), "changed" text NOT NULL CHECK ((JSON_VALID("changed") OR "changed" IS NULL)), "chunk_timings" text NOT NULL CHECK ((JSON_VALID("chunk_timings") OR "chunk_timings" IS NULL)), "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "ended_at" datetime NULL, "kept_chunks" text NOT NULL CHECK ((JSON_VALID("kept_chunks") OR "kept_chunks" IS NULL)), "key" char(32) NULL, "ledger_removed" bool NOT NULL, "schema_name" varchar(64) NOT NULL, "table_name" varchar(64) NOT NULL, "target_id" bigint NULL REFERENCES "importer_target" ("id") DEFERRABLE INITIALLY DEFERRED, "past_keys" text NOT NULL CHECK ((JSON_VALID("past_keys") OR "past_keys" IS NULL)));
-- next --
CREATE TABLE "importer_lab" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "schema_name" varchar(64) NOT NULL, "table_name" varchar(64) NOT NULL, "dialect_json" text NOT NULL CHECK ((JSON_VALID("dialect_json") OR "dialect_json" IS NULL)), "mapping_json" text NOT NULL CHECK ((JSON_VALID("mapping_json") OR "mapping_json" IS NULL)), "fillings_json" text NOT NULL CHECK ((JSON_VALID("fillings_json") OR "fillings_json" IS NULL)), "options_json" text NOT NULL CHECK ((JSON_VALID("options_json") OR "options_json" IS NULL)), "key" char(32) NOT NULL UNIQUE, "source_name" varchar(255) NOT NULL, "target_claim" bigint NULL UNIQUE, "status" varchar(9) NOT NULL, "becomes" varchar(9) NOT NULL, "problem" text NOT NULL CHECK ((JSON_VALID("problem") OR "problem" IS NULL)), "grid_json" text NOT NULL CHECK ((JSON_VALID("grid_json") OR "grid_json" IS NULL)), "sample_json" text NOT NULL CHECK ((JSON_VALID("sample_json") OR "sample_json" IS NULL)), "budget_json" text NOT NULL CHECK ((JSON_VALID("budget_json") OR "budget_json" IS NULL)), "repeats" smallint unsigned NOT NULL CHECK ("repeats" >= 0), "seed" integer unsigned NOT NULL CHECK ("seed" >= 0), "scratch_schema" varchar(64) NOT NULL, "during_imports" bool NOT NULL, "planned_json" text NOT NULL CHECK ((JSON_VALID("planned_json") OR "planned_json" IS NULL)), "combinations_json" text NOT NULL CHECK ((JSON_VALID("combinations_json") OR "combinations_json" IS NULL)), "left_out_json" text NOT NULL CHECK ((JSON_VALID("left_out_json") OR "left_out_json" IS NULL)), "sample_rows" bigint NOT NULL, "sample_bytes" bigint NOT NULL, "table_bytes" bigint NOT NULL, "waits_for" varchar(200) NOT NULL, "lease" datetime NULL, "attempt" integer unsigned NOT NULL CHECK ("attempt" >= 0), "failures" smallint unsigned NOT NULL CHECK ("failures" >= 0), "connection_id" bigint NULL, "version" integer unsigned NOT NULL CHECK ("version" >= 0), "created_at" datetime NOT NULL, "started_at" datetime NULL, "prepared_at" datetime NULL, "finished_at" datetime NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "sample_id" bigint NULL REFERENCES "importer_sourcefile" ("id") DEFERRABLE INITIALLY DEFERRED, "source_id" bigint NULL REFERENCES "importer_sourcefile" ("id") DEFERRABLE INITIALLY DEFERRED, "target_id" bigint NOT NULL REFERENCES "importer_target" ("id") DEFERRABLE INITIALLY DEFERRED, "of_job_id" bigint NULL REFERENCES "importer_importjob" ("id") DEFERRABLE INITIALLY DEFERRED, "approval_asked_at" datetime NULL, "approved_at" datetime NULL, "approved_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "approved_digest" varchar(64) NOT NULL, "starters" text NOT NULL CHECK ((JSON_VALID("starters") OR "starters" IS NULL)), "report_json" text NULL CHECK ((JSON_VALID("report_json") OR "report_json" IS NULL)));
-- next --
CREATE TABLE "importer_limitcount" ("key" varchar(64) NOT NULL PRIMARY KEY, "began" datetime NOT NULL, "uses" integer unsigned NOT NULL CHECK ("uses" >= 0), "kept_until" datetime NOT NULL);
-- next --
CREATE TABLE "importer_mappingpreset" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "schema_name" varchar(64) NOT NULL, "table_name" varchar(64) NOT NULL, "dialect_json" text NOT NULL CHECK ((JSON_VALID("dialect_json") OR "dialect_json" IS NULL)), "mapping_json" text NOT NULL CHECK ((JSON_VALID("mapping_json") OR "mapping_json" IS NULL)), "fillings_json" text NOT NULL CHECK ((JSON_VALID("fillings_json") OR "fillings_json" IS NULL)), "options_json" text NOT NULL CHECK ((JSON_VALID("options_json") OR "options_json" IS NULL)), "name" varchar(64) NOT NULL UNIQUE, "header" text NOT NULL CHECK ((JSON_VALID("header") OR "header" IS NULL)), "columns_json" text NOT NULL CHECK ((JSON_VALID("columns_json") OR "columns_json" IS NULL)), "created_at" datetime NOT NULL, "used_at" datetime NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "target_id" bigint NOT NULL REFERENCES "importer_target" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "importer_notification" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" char(32) NOT NULL UNIQUE, "event" varchar(16) NOT NULL, "once" varchar(120) NOT NULL UNIQUE, "payload" text NOT NULL CHECK ((JSON_VALID("payload") OR "payload" IS NULL)), "status" varchar(8) NOT NULL, "attempts" smallint unsigned NOT NULL CHECK ("attempts" >= 0), "next_at" datetime NOT NULL, "problem" text NOT NULL, "created_at" datetime NOT NULL, "sent_at" datetime NULL, "channel_id" bigint NOT NULL REFERENCES "importer_channel" ("id") DEFERRABLE INITIALLY DEFERRED, "job_id" bigint NULL REFERENCES "importer_importjob" ("id") DEFERRABLE INITIALLY DEFERRED, "run_id" bigint NULL REFERENCES "importer_schedulerun" ("id") DEFERRABLE INITIALLY DEFERRED, "schedule_id" bigint NULL REFERENCES "importer_schedule" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "importer_person" ("user_id" integer NOT NULL PRIMARY KEY REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "role" varchar(8) NOT NULL, "time_zone" varchar(64) NOT NULL);
-- next --
CREATE TABLE "importer_retentionpolicy" ("name" varchar(32) NOT NULL PRIMARY KEY, "days" integer unsigned NULL CHECK ("days" >= 0), "changed_at" datetime NOT NULL, "changed_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "importer_rowfix" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" char(32) NOT NULL, "chunk" integer unsigned NOT NULL CHECK ("chunk" >= 0), "place" integer unsigned NOT NULL CHECK ("place" >= 0), "texts" text NOT NULL CHECK ((JSON_VALID("texts") OR "texts" IS NULL)), "taken_at" datetime NULL, "job_id" bigint NOT NULL REFERENCES "importer_importjob" ("id") DEFERRABLE INITIALLY DEFERRED, "person_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "taken_by_id" bigint NULL REFERENCES "importer_importjob" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_fix_of_a_row" UNIQUE ("job_id", "key", "chunk", "place", "person_id"));
-- next --
CREATE TABLE "importer_savedfilter" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(64) NOT NULL, "query" varchar(1024) NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_filter_of_a_name" UNIQUE ("user_id", "name"));
-- next --
CREATE TABLE "importer_schedule" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "schema_name" varchar(64) NOT NULL, "table_name" varchar(64) NOT NULL, "dialect_json" text NOT NULL CHECK ((JSON_VALID("dialect_json") OR "dialect_json" IS NULL)), "mapping_json" text NOT NULL CHECK ((JSON_VALID("mapping_json") OR "mapping_json" IS NULL)), "fillings_json" text NOT NULL CHECK ((JSON_VALID("fillings_json") OR "fillings_json" IS NULL)), "options_json" text NOT NULL CHECK ((JSON_VALID("options_json") OR "options_json" IS NULL)), "name" varchar(64) NOT NULL UNIQUE, "header" text NOT NULL CHECK ((JSON_VALID("header") OR "header" IS NULL)), "columns_json" text NOT NULL CHECK ((JSON_VALID("columns_json") OR "columns_json" IS NULL)), "pattern" varchar(512) NOT NULL, "subfolders" bool NOT NULL, "trigger" varchar(8) NOT NULL, "cron" varchar(200) NOT NULL, "every_minutes" integer unsigned NULL CHECK ("every_minutes" >= 0), "zone" varchar(64) NOT NULL, "overlap" varchar(8) NOT NULL, "misfire" varchar(8) NOT NULL, "misfire_most" smallint unsigned NOT NULL CHECK ("misfire_most" >= 0), "backoff_seconds" integer unsigned NOT NULL CHECK ("backoff_seconds" >= 0), "deadline_minutes" integer unsigned NULL CHECK ("deadline_minutes" >= 0), "no_file" varchar(8) NOT NULL, "known_by" varchar(8) NOT NULL, "afterwards" varchar(8) NOT NULL, "move_to" varchar(512) NOT NULL, "drift" varchar(8) NOT NULL, "lateness_minutes" integer unsigned NULL CHECK ("lateness_minutes" >= 0), "rejects_limit" bigint unsigned NULL CHECK ("rejects_limit" >= 0), "paused" bool NOT NULL, "next_due_at" datetime NULL, "problem" text NOT NULL CHECK ((JSON_VALID("problem") OR "problem" IS NULL)), "version" integer unsigned NOT NULL CHECK ("version" >= 0), "created_at" datetime NOT NULL, "connection_id" bigint NOT NULL REFERENCES "importer_sourceconnection" ("id") DEFERRABLE INITIALLY DEFERRED, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "target_id" bigint NOT NULL REFERENCES "importer_target" ("id") DEFERRABLE INITIALLY DEFERRED, "starters" text NOT NULL CHECK ((JSON_VALID("starters") OR "starters" IS NULL)), "most_attempts" smallint unsigned NOT NULL CHECK ("most_attempts" >= 0));
-- next --
CREATE TABLE "importer_schedulerun" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "due_at" datetime NOT NULL, "last_due_at" datetime NULL, "due_times" integer unsigned NOT NULL CHECK ("due_times" >= 0), "cause" varchar(8) NOT NULL, "moment" datetime NOT NULL, "status" varchar(15) NOT NULL, "schedule_claim" bigint NULL UNIQUE, "lease" datetime NULL, "attempt" integer unsigned NOT NULL CHECK ("attempt" >= 0), "woken_at" datetime NULL, "failures" smallint unsigned NOT NULL CHECK ("failures" >= 0), "retry_at" datetime NULL, "deadline_at" datetime NULL, "late_at" datetime NULL, "looks" smallint unsigned NOT NULL CHECK ("looks" >= 0), "found_files" integer unsigned NOT NULL CHECK ("found_files" >= 0), "known_files" integer unsigned NOT NULL CHECK ("known_files" >= 0), "problem" text NOT NULL CHECK ((JSON_VALID("problem") OR "problem" IS NULL)), "note" varchar(200) NOT NULL, "events" text NOT NULL CHECK ((JSON_VALID("events") OR "events" IS NULL)), "version" integer unsigned NOT NULL CHECK ("version" >= 0), "created_at" datetime NOT NULL, "started_at" datetime NULL, "finished_at" datetime NULL, "asked_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "schedule_id" bigint NOT NULL REFERENCES "importer_schedule" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_run_per_due_time" UNIQUE ("schedule_id", "due_at"));
-- next --
CREATE TABLE "importer_sourceconnection" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" char(32) NOT NULL UNIQUE, "name" varchar(64) NOT NULL UNIQUE, "kind" varchar(8) NOT NULL, "base" varchar(768) NOT NULL, "settings" text NOT NULL CHECK ((JSON_VALID("settings") OR "settings" IS NULL)), "secrets_ciphertext" text NOT NULL, "private_allowed" bool NOT NULL, "findings" text NOT NULL CHECK ((JSON_VALID("findings") OR "findings" IS NULL)), "checked_at" datetime NULL, "created_at" datetime NOT NULL);
-- next --
CREATE TABLE "importer_sourcefile" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" char(32) NOT NULL UNIQUE, "name" varchar(255) NOT NULL, "path" varchar(1024) NOT NULL, "size" bigint NOT NULL, "received" bigint NOT NULL, "status" varchar(10) NOT NULL, "fingerprint" varchar(32) NOT NULL, "choices" text NOT NULL CHECK ((JSON_VALID("choices") OR "choices" IS NULL)), "owned" bool NOT NULL, "created_at" datetime NOT NULL, "touched_at" datetime NOT NULL, "uploaded_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "found_etag" varchar(255) NOT NULL, "found_modified_at" datetime NULL, "found_name" varchar(1024) NOT NULL, "connection_id" bigint NULL REFERENCES "importer_sourceconnection" ("id") DEFERRABLE INITIALLY DEFERRED, "file_count" smallint unsigned NOT NULL CHECK ("file_count" >= 0), "server_path" varchar(1024) NOT NULL, "host" varchar(255) NOT NULL, "store_etag" varchar(255) NOT NULL, "store_upload" varchar(1024) DEFAULT '' NOT NULL);
-- next --
CREATE TABLE "importer_sourcemember" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "place" smallint unsigned NOT NULL CHECK ("place" >= 0), "file_id" bigint NOT NULL REFERENCES "importer_sourcefile" ("id") DEFERRABLE INITIALLY DEFERRED, "whole_id" bigint NOT NULL REFERENCES "importer_sourcefile" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_file_per_place" UNIQUE ("whole_id", "place"));
-- next --
CREATE TABLE "importer_subscription" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "events" text NOT NULL CHECK ((JSON_VALID("events") OR "events" IS NULL)), "channel_id" bigint NOT NULL REFERENCES "importer_channel" ("id") DEFERRABLE INITIALLY DEFERRED, "schedule_id" bigint NOT NULL REFERENCES "importer_schedule" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_hearing_per_channel" UNIQUE ("schedule_id", "channel_id"));
-- next --
CREATE TABLE "importer_target" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" char(32) NOT NULL UNIQUE, "name" varchar(64) NOT NULL UNIQUE, "host" varchar(255) NOT NULL, "port" integer unsigned NOT NULL CHECK ("port" >= 0), "user" varchar(128) NOT NULL, "password_ciphertext" text NOT NULL, "database" varchar(64) NOT NULL, "tls" varchar(8) NOT NULL, "tls_ca" varchar(255) NOT NULL, "ceiling" smallint unsigned NOT NULL CHECK ("ceiling" >= 0), "findings" text NOT NULL CHECK ((JSON_VALID("findings") OR "findings" IS NULL)), "round_trip_ms" real NULL, "bytes_per_second" real NULL, "checked_at" datetime NULL, "created_at" datetime NOT NULL, "clear_password" bool NOT NULL, "server_key" text NOT NULL, "ledger_swept_at" datetime NULL, "ledger_problem" varchar(255) NOT NULL, "needs_approval" bool NOT NULL, "by_url" bool NOT NULL, "label" varchar(32) DEFAULT '' NOT NULL, "password_unstored" bool DEFAULT 0 NOT NULL);
-- next --
CREATE TABLE "importer_total" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(16) NOT NULL, "target" varchar(64) NOT NULL, "kind" varchar(32) NOT NULL, "amount" real NOT NULL, CONSTRAINT "one_total_of_a_kind" UNIQUE ("name", "target", "kind"));
-- next --
CREATE TABLE "importer_trial" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer unsigned NOT NULL CHECK ("number" >= 0), "round" smallint unsigned NOT NULL CHECK ("round" >= 0), "combination" smallint unsigned NOT NULL CHECK ("combination" >= 0), "status" varchar(8) NOT NULL, "begun" smallint unsigned NOT NULL CHECK ("begun" >= 0), "started_at" datetime NULL, "finished_at" datetime NULL, "rows" bigint NOT NULL, "rows_per_second" real NULL, "timings" text NOT NULL CHECK ((JSON_VALID("timings") OR "timings" IS NULL)), "ran_as" text NOT NULL CHECK ((JSON_VALID("ran_as") OR "ran_as" IS NULL)), "table_bytes" bigint NOT NULL, "problem" text NOT NULL CHECK ((JSON_VALID("problem") OR "problem" IS NULL)), "lab_id" bigint NOT NULL REFERENCES "importer_lab" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_trial_per_number" UNIQUE ("lab_id", "number"));
-- next --
CREATE TABLE "mfa_authenticator" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "type" varchar(20) NOT NULL, "data" text NOT NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)), "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "created_at" datetime NOT NULL, "last_used_at" datetime NULL);
-- next --
CREATE TABLE "socialaccount_socialaccount" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "provider" varchar(200) NOT NULL, "uid" varchar(191) NOT NULL, "last_login" datetime NOT NULL, "date_joined" datetime NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "extra_data" text NOT NULL CHECK ((JSON_VALID("extra_data") OR "extra_data" IS NULL)));
-- next --
CREATE TABLE "socialaccount_socialapp" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "provider" varchar(30) NOT NULL, "name" varchar(40) NOT NULL, "client_id" varchar(191) NOT NULL, "secret" varchar(191) NOT NULL, "key" varchar(191) NOT NULL, "provider_id" varchar(200) NOT NULL, "settings" text NOT NULL CHECK ((JSON_VALID("settings") OR "settings" IS NULL)));
-- next --
CREATE TABLE "socialaccount_socialtoken" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "token" text NOT NULL, "token_secret" text NOT NULL, "expires_at" datetime NULL, "account_id" integer NOT NULL REFERENCES "socialaccount_socialaccount" ("id") DEFERRABLE INITIALLY DEFERRED, "app_id" integer NULL REFERENCES "socialaccount_socialapp" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
CREATE TABLE "usersessions_usersession" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "created_at" datetime NOT NULL, "ip" char(39) NOT NULL, "last_seen_at" datetime NOT NULL, "session_key" varchar(40) NOT NULL UNIQUE, "user_agent" varchar(200) NOT NULL, "data" text NOT NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)), "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED);
-- next --
INSERT INTO "auth_permission" VALUES(1,1,'add_permission','Can add permission');
-- next --
INSERT INTO "auth_permission" VALUES(2,1,'change_permission','Can change permission');
-- next --
INSERT INTO "auth_permission" VALUES(3,1,'delete_permission','Can delete permission');
-- next --
INSERT INTO "auth_permission" VALUES(4,1,'view_permission','Can view permission');
-- next --
INSERT INTO "auth_permission" VALUES(5,2,'add_group','Can add group');
-- next --
INSERT INTO "auth_permission" VALUES(6,2,'change_group','Can change group');
-- next --
INSERT INTO "auth_permission" VALUES(7,2,'delete_group','Can delete group');
-- next --
INSERT INTO "auth_permission" VALUES(8,2,'view_group','Can view group');
-- next --
INSERT INTO "auth_permission" VALUES(9,3,'add_user','Can add user');
-- next --
INSERT INTO "auth_permission" VALUES(10,3,'change_user','Can change user');
-- next --
INSERT INTO "auth_permission" VALUES(11,3,'delete_user','Can delete user');
-- next --
INSERT INTO "auth_permission" VALUES(12,3,'view_user','Can view user');
-- next --
INSERT INTO "auth_permission" VALUES(13,4,'add_contenttype','Can add content type');
-- next --
INSERT INTO "auth_permission" VALUES(14,4,'change_contenttype','Can change content type');
-- next --
INSERT INTO "auth_permission" VALUES(15,4,'delete_contenttype','Can delete content type');
-- next --
INSERT INTO "auth_permission" VALUES(16,4,'view_contenttype','Can view content type');
-- next --
INSERT INTO "auth_permission" VALUES(17,5,'add_session','Can add session');
-- next --
INSERT INTO "auth_permission" VALUES(18,5,'change_session','Can change session');
-- next --
INSERT INTO "auth_permission" VALUES(19,5,'delete_session','Can delete session');
-- next --
INSERT INTO "auth_permission" VALUES(20,5,'view_session','Can view session');
-- next --
INSERT INTO "auth_permission" VALUES(21,6,'add_emailaddress','Can add email address');
-- next --
INSERT INTO "auth_permission" VALUES(22,6,'change_emailaddress','Can change email address');
-- next --
INSERT INTO "auth_permission" VALUES(23,6,'delete_emailaddress','Can delete email address');
-- next --
INSERT INTO "auth_permission" VALUES(24,6,'view_emailaddress','Can view email address');
-- next --
INSERT INTO "auth_permission" VALUES(25,7,'add_emailconfirmation','Can add email confirmation');
-- next --
INSERT INTO "auth_permission" VALUES(26,7,'change_emailconfirmation','Can change email confirmation');
-- next --
INSERT INTO "auth_permission" VALUES(27,7,'delete_emailconfirmation','Can delete email confirmation');
-- next --
INSERT INTO "auth_permission" VALUES(28,7,'view_emailconfirmation','Can view email confirmation');
-- next --
INSERT INTO "auth_permission" VALUES(29,8,'add_authenticator','Can add authenticator');
-- next --
INSERT INTO "auth_permission" VALUES(30,8,'change_authenticator','Can change authenticator');
-- next --
INSERT INTO "auth_permission" VALUES(31,8,'delete_authenticator','Can delete authenticator');
-- next --
INSERT INTO "auth_permission" VALUES(32,8,'view_authenticator','Can view authenticator');
-- next --
INSERT INTO "auth_permission" VALUES(33,9,'add_usersession','Can add user session');
-- next --
INSERT INTO "auth_permission" VALUES(34,9,'change_usersession','Can change user session');
-- next --
INSERT INTO "auth_permission" VALUES(35,9,'delete_usersession','Can delete user session');
-- next --
INSERT INTO "auth_permission" VALUES(36,9,'view_usersession','Can view user session');
-- next --
INSERT INTO "auth_permission" VALUES(37,10,'add_socialaccount','Can add social account');
-- next --
INSERT INTO "auth_permission" VALUES(38,10,'change_socialaccount','Can change social account');
-- next --
INSERT INTO "auth_permission" VALUES(39,10,'delete_socialaccount','Can delete social account');
-- next --
INSERT INTO "auth_permission" VALUES(40,10,'view_socialaccount','Can view social account');
-- next --
INSERT INTO "auth_permission" VALUES(41,11,'add_socialapp','Can add social application');
-- next --
INSERT INTO "auth_permission" VALUES(42,11,'change_socialapp','Can change social application');
-- next --
INSERT INTO "auth_permission" VALUES(43,11,'delete_socialapp','Can delete social application');
-- next --
INSERT INTO "auth_permission" VALUES(44,11,'view_socialapp','Can view social application');
-- next --
INSERT INTO "auth_permission" VALUES(45,12,'add_socialtoken','Can add social application token');
-- next --
INSERT INTO "auth_permission" VALUES(46,12,'change_socialtoken','Can change social application token');
-- next --
INSERT INTO "auth_permission" VALUES(47,12,'delete_socialtoken','Can delete social application token');
-- next --
INSERT INTO "auth_permission" VALUES(48,12,'view_socialtoken','Can view social application token');
-- next --
INSERT INTO "auth_permission" VALUES(49,13,'add_target','Can add target');
-- next --
INSERT INTO "auth_permission" VALUES(50,13,'change_target','Can change target');
-- next --
INSERT INTO "auth_permission" VALUES(51,13,'delete_target','Can delete target');
-- next --
INSERT INTO "auth_permission" VALUES(52,13,'view_target','Can view target');
-- next --
INSERT INTO "auth_permission" VALUES(53,14,'add_sourceconnection','Can add source connection');
-- next --
INSERT INTO "auth_permission" VALUES(54,14,'change_sourceconnection','Can change source connection');
-- next --
INSERT INTO "auth_permission" VALUES(55,14,'delete_sourceconnection','Can delete source connection');
-- next --
INSERT INTO "auth_permission" VALUES(56,14,'view_sourceconnection','Can view source connection');
-- next --
INSERT INTO "auth_permission" VALUES(57,15,'add_sourcefile','Can add source file');
-- next --
INSERT INTO "auth_permission" VALUES(58,15,'change_sourcefile','Can change source file');
-- next --
INSERT INTO "auth_permission" VALUES(59,15,'delete_sourcefile','Can delete source file');
-- next --
INSERT INTO "auth_permission" VALUES(60,15,'view_sourcefile','Can view source file');
-- next --
INSERT INTO "auth_permission" VALUES(61,16,'add_mappingpreset','Can add mapping preset');
-- next --
INSERT INTO "auth_permission" VALUES(62,16,'change_mappingpreset','Can change mapping preset');
-- next --
INSERT INTO "auth_permission" VALUES(63,16,'delete_mappingpreset','Can delete mapping preset');
-- next --
INSERT INTO "auth_permission" VALUES(64,16,'view_mappingpreset','Can view mapping preset');
-- next --
INSERT INTO "auth_permission" VALUES(65,17,'add_importjob','Can add import job');
-- next --
INSERT INTO "auth_permission" VALUES(66,17,'change_importjob','Can change import job');
-- next --
INSERT INTO "auth_permission" VALUES(67,17,'delete_importjob','Can delete import job');
-- next --
INSERT INTO "auth_permission" VALUES(68,17,'view_importjob','Can view import job');
-- next --
INSERT INTO "auth_permission" VALUES(69,18,'add_chunk','Can add chunk');
-- next --
INSERT INTO "auth_permission" VALUES(70,18,'change_chunk','Can change chunk');
-- next --
INSERT INTO "auth_permission" VALUES(71,18,'delete_chunk','Can delete chunk');
-- next --
INSERT INTO "auth_permission" VALUES(72,18,'view_chunk','Can view chunk');
-- next --
INSERT INTO "auth_permission" VALUES(73,19,'add_lab','Can add lab');
-- next --
INSERT INTO "auth_permission" VALUES(74,19,'change_lab','Can change lab');
-- next --
INSERT INTO "auth_permission" VALUES(75,19,'delete_lab','Can delete lab');
-- next --
INSERT INTO "auth_permission" VALUES(76,19,'view_lab','Can view lab');
-- next --
INSERT INTO "auth_permission" VALUES(77,20,'add_trial','Can add trial');
-- next --
INSERT INTO "auth_permission" VALUES(78,20,'change_trial','Can change trial');
-- next --
INSERT INTO "auth_permission" VALUES(79,20,'delete_trial','Can delete trial');
-- next --
INSERT INTO "auth_permission" VALUES(80,20,'view_trial','Can view trial');
-- next --
INSERT INTO "auth_permission" VALUES(81,21,'add_jobrecord','Can add job record');
-- next --
INSERT INTO "auth_permission" VALUES(82,21,'change_jobrecord','Can change job record');
-- next --
INSERT INTO "auth_permission" VALUES(83,21,'delete_jobrecord','Can delete job record');
-- next --
INSERT INTO "auth_permission" VALUES(84,21,'view_jobrecord','Can view job record');
-- next --
INSERT INTO "auth_permission" VALUES(85,22,'add_jobfact','Can add job fact');
-- next --
INSERT INTO "auth_permission" VALUES(86,22,'change_jobfact','Can change job fact');
-- next --
INSERT INTO "auth_permission" VALUES(87,22,'delete_jobfact','Can delete job fact');
-- next --
INSERT INTO "auth_permission" VALUES(88,22,'view_jobfact','Can view job fact');
-- next --
INSERT INTO "auth_permission" VALUES(89,23,'add_schedule','Can add schedule');
-- next --
INSERT INTO "auth_permission" VALUES(90,23,'change_schedule','Can change schedule');
-- next --
INSERT INTO "auth_permission" VALUES(91,23,'delete_schedule','Can delete schedule');
-- next --
INSERT INTO "auth_permission" VALUES(92,23,'view_schedule','Can view schedule');
-- next --
INSERT INTO "auth_permission" VALUES(93,24,'add_channel','Can add channel');
-- next --
INSERT INTO "auth_permission" VALUES(94,24,'change_channel','Can change channel');
-- next --
INSERT INTO "auth_permission" VALUES(95,24,'delete_channel','Can delete channel');
-- next --
INSERT INTO "auth_permission" VALUES(96,24,'view_channel','Can view channel');
-- next --
INSERT INTO "auth_permission" VALUES(97,25,'add_schedulerun','Can add schedule run');
-- next --
INSERT INTO "auth_permission" VALUES(98,25,'change_schedulerun','Can change schedule run');
-- next --
INSERT INTO "auth_permission" VALUES(99,25,'delete_schedulerun','Can delete schedule run');
-- next --
INSERT INTO "auth_permission" VALUES(100,25,'view_schedulerun','Can view schedule run');
-- next --
INSERT INTO "auth_permission" VALUES(101,26,'add_discoveredfile','Can add discovered file');
-- next --
INSERT INTO "auth_permission" VALUES(102,26,'change_discoveredfile','Can change discovered file');
-- next --
INSERT INTO "auth_permission" VALUES(103,26,'delete_discoveredfile','Can delete discovered file');
-- next --
INSERT INTO "auth_permission" VALUES(104,26,'view_discoveredfile','Can view discovered file');
-- next --
INSERT INTO "auth_permission" VALUES(105,27,'add_subscription','Can add subscription');
-- next --
INSERT INTO "auth_permission" VALUES(106,27,'change_subscription','Can change subscription');
-- next --
INSERT INTO "auth_permission" VALUES(107,27,'delete_subscription','Can delete subscription');
-- next --
INSERT INTO "auth_permission" VALUES(108,27,'view_subscription','Can view subscription');
-- next --
INSERT INTO "auth_permission" VALUES(109,28,'add_notification','Can add notification');
-- next --
INSERT INTO "auth_permission" VALUES(110,28,'change_notification','Can change notification');
-- next --
INSERT INTO "auth_permission" VALUES(111,28,'delete_notification','Can delete notification');
-- next --
INSERT INTO "auth_permission" VALUES(112,28,'view_notification','Can view notification');
-- next --
INSERT INTO "auth_permission" VALUES(113,29,'add_person','Can add person');
-- next --
INSERT INTO "auth_permission" VALUES(114,29,'change_person','Can change person');
-- next --
INSERT INTO "auth_permission" VALUES(115,29,'delete_person','Can delete person');
-- next --
INSERT INTO "auth_permission" VALUES(116,29,'view_person','Can view person');
-- next --
INSERT INTO "auth_permission" VALUES(117,30,'add_grant','Can add grant');
-- next --
INSERT INTO "auth_permission" VALUES(118,30,'change_grant','Can change grant');
-- next --
INSERT INTO "auth_permission" VALUES(119,30,'delete_grant','Can delete grant');
-- next --
INSERT INTO "auth_permission" VALUES(120,30,'view_grant','Can view grant');
-- next --
INSERT INTO "auth_permission" VALUES(121,31,'add_auditevent','Can add audit event');
-- next --
INSERT INTO "auth_permission" VALUES(122,31,'change_auditevent','Can change audit event');
-- next --
INSERT INTO "auth_permission" VALUES(123,31,'delete_auditevent','Can delete audit event');
-- next --
INSERT INTO "auth_permission" VALUES(124,31,'view_auditevent','Can view audit event');
-- next --
INSERT INTO "auth_permission" VALUES(125,32,'add_limitcount','Can add limit count');
-- next --
INSERT INTO "auth_permission" VALUES(126,32,'change_limitcount','Can change limit count');
-- next --
INSERT INTO "auth_permission" VALUES(127,32,'delete_limitcount','Can delete limit count');
-- next --
INSERT INTO "auth_permission" VALUES(128,32,'view_limitcount','Can view limit count');
-- next --
INSERT INTO "auth_permission" VALUES(129,33,'add_retentionpolicy','Can add retention policy');
-- next --
INSERT INTO "auth_permission" VALUES(130,33,'change_retentionpolicy','Can change retention policy');
-- next --
INSERT INTO "auth_permission" VALUES(131,33,'delete_retentionpolicy','Can delete retention policy');
-- next --
INSERT INTO "auth_permission" VALUES(132,33,'view_retentionpolicy','Can view retention policy');
-- next --
INSERT INTO "auth_permission" VALUES(133,34,'add_accesstoken','Can add token');
-- next --
INSERT INTO "auth_permission" VALUES(134,34,'change_accesstoken','Can change token');
-- next --
INSERT INTO "auth_permission" VALUES(135,34,'delete_accesstoken','Can delete token');
-- next --
INSERT INTO "auth_permission" VALUES(136,34,'view_accesstoken','Can view token');
-- next --
INSERT INTO "auth_permission" VALUES(137,35,'add_savedfilter','Can add saved filter');
-- next --
INSERT INTO "auth_permission" VALUES(138,35,'change_savedfilter','Can change saved filter');
-- next --
INSERT INTO "auth_permission" VALUES(139,35,'delete_savedfilter','Can delete saved filter');
-- next --
INSERT INTO "auth_permission" VALUES(140,35,'view_savedfilter','Can view saved filter');
-- next --
INSERT INTO "auth_permission" VALUES(141,36,'add_rowfix','Can add row fix');
-- next --
INSERT INTO "auth_permission" VALUES(142,36,'change_rowfix','Can change row fix');
-- next --
INSERT INTO "auth_permission" VALUES(143,36,'delete_rowfix','Can delete row fix');
-- next --
INSERT INTO "auth_permission" VALUES(144,36,'view_rowfix','Can view row fix');
-- next --
INSERT INTO "auth_permission" VALUES(145,37,'add_examination','Can add examination');
-- next --
INSERT INTO "auth_permission" VALUES(146,37,'change_examination','Can change examination');
-- next --
INSERT INTO "auth_permission" VALUES(147,37,'delete_examination','Can delete examination');
-- next --
INSERT INTO "auth_permission" VALUES(148,37,'view_examination','Can view examination');
-- next --
INSERT INTO "auth_permission" VALUES(149,38,'add_sourcemember','Can add source member');
-- next --
INSERT INTO "auth_permission" VALUES(150,38,'change_sourcemember','Can change source member');
-- next --
INSERT INTO "auth_permission" VALUES(151,38,'delete_sourcemember','Can delete source member');
-- next --
INSERT INTO "auth_permission" VALUES(152,38,'view_sourcemember','Can view source member');
-- next --
INSERT INTO "auth_permission" VALUES(153,39,'add_answeredrequest','Can add answered request');
-- next --
INSERT INTO "auth_permission" VALUES(154,39,'change_answeredrequest','Can change answered request');
-- next --
INSERT INTO "auth_permission" VALUES(155,39,'delete_answeredrequest','Can delete answered request');
-- next --
INSERT INTO "auth_permission" VALUES(156,39,'view_answeredrequest','Can view answered request');
-- next --
INSERT INTO "auth_permission" VALUES(157,40,'add_total','Can add total');
-- next --
INSERT INTO "auth_permission" VALUES(158,40,'change_total','Can change total');
-- next --
INSERT INTO "auth_permission" VALUES(159,40,'delete_total','Can delete total');
-- next --
INSERT INTO "auth_permission" VALUES(160,40,'view_total','Can view total');
-- next --
INSERT INTO "django_content_type" VALUES(1,'auth','permission');
-- next --
INSERT INTO "django_content_type" VALUES(2,'auth','group');
-- next --
INSERT INTO "django_content_type" VALUES(3,'auth','user');
-- next --
INSERT INTO "django_content_type" VALUES(4,'contenttypes','contenttype');
-- next --
INSERT INTO "django_content_type" VALUES(5,'sessions','session');
-- next --
INSERT INTO "django_content_type" VALUES(6,'account','emailaddress');
-- next --
INSERT INTO "django_content_type" VALUES(7,'account','emailconfirmation');
-- next --
INSERT INTO "django_content_type" VALUES(8,'mfa','authenticator');
-- next --
INSERT INTO "django_content_type" VALUES(9,'usersessions','usersession');
-- next --
INSERT INTO "django_content_type" VALUES(10,'socialaccount','socialaccount');
-- next --
INSERT INTO "django_content_type" VALUES(11,'socialaccount','socialapp');
-- next --
INSERT INTO "django_content_type" VALUES(12,'socialaccount','socialtoken');
-- next --
INSERT INTO "django_content_type" VALUES(13,'importer','target');
-- next --
INSERT INTO "django_content_type" VALUES(14,'importer','sourceconnection');
-- next --
INSERT INTO "django_content_type" VALUES(15,'importer','sourcefile');
-- next --
INSERT INTO "django_content_type" VALUES(16,'importer','mappingpreset');
-- next --
INSERT INTO "django_content_type" VALUES(17,'importer','importjob');
-- next --
INSERT INTO "django_content_type" VALUES(18,'importer','chunk');
-- next --
INSERT INTO "django_content_type" VALUES(19,'importer','lab');
-- next --
INSERT INTO "django_content_type" VALUES(20,'importer','trial');
-- next --
INSERT INTO "django_content_type" VALUES(21,'importer','jobrecord');
-- next --
INSERT INTO "django_content_type" VALUES(22,'importer','jobfact');
-- next --
INSERT INTO "django_content_type" VALUES(23,'importer','schedule');
-- next --
INSERT INTO "django_content_type" VALUES(24,'importer','channel');
-- next --
INSERT INTO "django_content_type" VALUES(25,'importer','schedulerun');
-- next --
INSERT INTO "django_content_type" VALUES(26,'importer','discoveredfile');
-- next --
INSERT INTO "django_content_type" VALUES(27,'importer','subscription');
-- next --
INSERT INTO "django_content_type" VALUES(28,'importer','notification');
-- next --
INSERT INTO "django_content_type" VALUES(29,'importer','person');
-- next --
INSERT INTO "django_content_type" VALUES(30,'importer','grant');
-- next --
INSERT INTO "django_content_type" VALUES(31,'importer','auditevent');
-- next --
INSERT INTO "django_content_type" VALUES(32,'importer','limitcount');
-- next --
INSERT INTO "django_content_type" VALUES(33,'importer','retentionpolicy');
-- next --
INSERT INTO "django_content_type" VALUES(34,'importer','accesstoken');
-- next --
INSERT INTO "django_content_type" VALUES(35,'importer','savedfilter');
-- next --
INSERT INTO "django_content_type" VALUES(36,'importer','rowfix');
-- next --
INSERT INTO "django_content_type" VALUES(37,'importer','examination');
-- next --
INSERT INTO "django_content_type" VALUES(38,'importer','sourcemember');
-- next --
INSERT INTO "django_content_type" VALUES(39,'importer','answeredrequest');
-- next --
INSERT INTO "django_content_type" VALUES(40,'importer','total');
-- next --
INSERT INTO "django_migrations" VALUES(1,'contenttypes','0001_initial','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(2,'auth','0001_initial','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(3,'account','0001_initial','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(4,'account','0002_email_max_length','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(5,'account','0003_alter_emailaddress_create_unique_verified_email','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(6,'account','0004_alter_emailaddress_drop_unique_email','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(7,'account','0005_emailaddress_idx_upper_email','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(8,'account','0006_emailaddress_lower','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(9,'account','0007_emailaddress_idx_email','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(10,'account','0008_emailaddress_unique_primary_email_fixup','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(11,'account','0009_emailaddress_unique_primary_email','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(12,'contenttypes','0002_remove_content_type_name','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(13,'auth','0002_alter_permission_name_max_length','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(14,'auth','0003_alter_user_email_max_length','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(15,'auth','0004_alter_user_username_opts','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(16,'auth','0005_alter_user_last_login_null','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(17,'auth','0006_require_contenttypes_0002','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(18,'auth','0007_alter_validators_add_error_messages','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(19,'auth','0008_alter_user_username_max_length','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(20,'auth','0009_alter_user_last_name_max_length','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(21,'auth','0010_alter_group_name_max_length','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(22,'auth','0011_update_proxy_permissions','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(23,'auth','0012_alter_user_first_name_max_length','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(24,'mfa','0001_initial','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(25,'mfa','0002_authenticator_timestamps','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(26,'mfa','0003_authenticator_type_uniq','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(27,'importer','0001_initial','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(28,'importer','0002_lab','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(29,'importer','0003_history','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(30,'importer','0004_lab_of_job','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(31,'importer','0005_connections','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(32,'importer','0006_schedules','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(33,'importer','0007_watch','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(34,'importer','0008_channels','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(35,'importer','0009_channel_rests','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(36,'importer','0010_ftp','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(37,'importer','0011_chunk_ascii','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(38,'importer','0012_rename_models','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(39,'importer','0013_channel_kinds','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(40,'importer','0014_connection_kinds','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(41,'importer','0015_reading','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(42,'importer','0016_unchanged_rows','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(43,'importer','0017_lines','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(44,'importer','0018_time_zone','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(45,'importer','0019_needs_answer','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(46,'importer','0020_tries','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(47,'importer','0021_guess_count','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(48,'importer','0022_null_marker','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(49,'importer','0023_people','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(50,'importer','0024_server_key','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(51,'importer','0025_left_changed','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(52,'importer','0026_audit_event','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(53,'importer','0027_asked_by','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(54,'importer','0028_limit_count','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(55,'importer','0029_labels','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(56,'importer','0030_retention','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(57,'importer','0031_time_zone_of_person','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(58,'importer','0032_four_eyes','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(59,'importer','0033_past_keys','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(60,'importer','0034_access_token','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(61,'importer','0035_one_second_factor','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(62,'importer','0036_schedule_starters','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(63,'importer','0037_follow_upload','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(64,'importer','0038_attempts','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(65,'importer','0039_chunk_worker','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(66,'importer','0040_saved_filters','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(67,'importer','0041_row_fix','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(68,'importer','0042_examination','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(69,'importer','0043_imports_of_file','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(70,'importer','0044_attempts_words','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(71,'importer','0045_several_files','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(72,'importer','0046_api','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(73,'importer','0047_schedule_words','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(74,'importer','0048_imports_by_end','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(75,'importer','0049_target_by_url','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(76,'importer','0050_restored_in_the_history','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(77,'importer','0051_server_path','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(78,'importer','0052_total','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(79,'importer','0053_hosts','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(80,'importer','0054_store_etag','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(81,'importer','0055_copy_in_store','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(82,'importer','0056_target_label','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(83,'importer','0057_experiment_report','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(84,'importer','0058_direct_uploads','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(85,'importer','0059_during_imports','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(86,'importer','0060_password_unstored','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(87,'importer','0061_worked_at','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(88,'importer','0062_event_succeeded','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(89,'sessions','0001_initial','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(90,'socialaccount','0001_initial','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(91,'socialaccount','0002_token_max_lengths','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(92,'socialaccount','0003_extra_data_default_dict','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(93,'socialaccount','0004_app_provider_id_settings','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(94,'socialaccount','0005_socialtoken_nullable_app','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(95,'socialaccount','0006_alter_socialaccount_extra_data','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(96,'usersessions','0001_initial','2000-01-01 00:00:00');
-- next --
INSERT INTO "django_migrations" VALUES(97,'importer','0001_squashed_0056_target_label','2000-01-01 00:00:00');
-- next --
CREATE UNIQUE INDEX "auth_group_permissions_group_id_permission_id_0cd325b0_uniq" ON "auth_group_permissions" ("group_id", "permission_id");
-- next --
CREATE INDEX "auth_group_permissions_group_id_b120cbf9" ON "auth_group_permissions" ("group_id");
-- next --
CREATE INDEX "auth_group_permissions_permission_id_84c5c92e" ON "auth_group_permissions" ("permission_id");
-- next --
CREATE UNIQUE INDEX "auth_user_groups_user_id_group_id_94350c0c_uniq" ON "auth_user_groups" ("user_id", "group_id");
-- next --
CREATE INDEX "auth_user_groups_user_id_6a12ed8b" ON "auth_user_groups" ("user_id");
-- next --
CREATE INDEX "auth_user_groups_group_id_97559544" ON "auth_user_groups" ("group_id");
-- next --
CREATE UNIQUE INDEX "auth_user_user_permissions_user_id_permission_id_14a6b632_uniq" ON "auth_user_user_permissions" ("user_id", "permission_id");
-- next --
CREATE INDEX "auth_user_user_permissions_user_id_a95ead1b" ON "auth_user_user_permissions" ("user_id");
-- next --
CREATE INDEX "auth_user_user_permissions_permission_id_1fbb5f2c" ON "auth_user_user_permissions" ("permission_id");
-- next --
CREATE INDEX "account_emailconfirmation_email_address_id_5b7f8c58" ON "account_emailconfirmation" ("email_address_id");
-- next --
CREATE UNIQUE INDEX "account_emailaddress_user_id_email_987c8728_uniq" ON "account_emailaddress" ("user_id", "email");
-- next --
CREATE UNIQUE INDEX "unique_verified_email" ON "account_emailaddress" ("email") WHERE "verified";
-- next --
CREATE INDEX "account_emailaddress_user_id_2c513194" ON "account_emailaddress" ("user_id");
-- next --
CREATE INDEX "account_emailaddress_email_03be32b2" ON "account_emailaddress" ("email");
-- next --
CREATE UNIQUE INDEX "unique_primary_email" ON "account_emailaddress" ("user_id", "primary") WHERE "primary";
-- next --
CREATE UNIQUE INDEX "django_content_type_app_label_model_76bd3d3b_uniq" ON "django_content_type" ("app_label", "model");
-- next --
CREATE UNIQUE INDEX "auth_permission_content_type_id_codename_01ab375a_uniq" ON "auth_permission" ("content_type_id", "codename");
-- next --
CREATE INDEX "auth_permission_content_type_id_2f476e4b" ON "auth_permission" ("content_type_id");
-- next --
CREATE INDEX "mfa_authenticator_user_id_0c3a50c0" ON "mfa_authenticator" ("user_id");
-- next --
CREATE UNIQUE INDEX "unique_authenticator_type" ON "mfa_authenticator" ("user_id", "type") WHERE "type" IN ('totp', 'recovery_codes');
-- next --
CREATE INDEX "importer_mappingpreset_created_by_id_0e98ac68" ON "importer_mappingpreset" ("created_by_id");
-- next --
CREATE INDEX "importer_mappingpreset_target_id_544ecd74" ON "importer_mappingpreset" ("target_id");
-- next --
CREATE INDEX "importer_chunk_job_id_8f22c3fb" ON "importer_chunk" ("job_id");
-- next --
CREATE INDEX "importer_ch_job_id_f3d35b_idx" ON "importer_chunk" ("job_id", "status");
-- next --
CREATE INDEX "importer_ch_status_3f9328_idx" ON "importer_chunk" ("status", "lease");
-- next --
CREATE INDEX "importer_lab_status_896dc3fa" ON "importer_lab" ("status");
-- next --
CREATE INDEX "importer_lab_created_at_de260db3" ON "importer_lab" ("created_at");
-- next --
CREATE INDEX "importer_lab_created_by_id_739ff4ed" ON "importer_lab" ("created_by_id");
-- next --
CREATE INDEX "importer_lab_sample_id_bf262216" ON "importer_lab" ("sample_id");
-- next --
CREATE INDEX "importer_lab_source_id_237cf72f" ON "importer_lab" ("source_id");
-- next --
CREATE INDEX "importer_lab_target_id_11aa3a93" ON "importer_lab" ("target_id");
-- next --
CREATE INDEX "importer_lab_of_job_id_2632fb44" ON "importer_lab" ("of_job_id");
-- next --
CREATE INDEX "importer_lab_approved_by_id_145442b1" ON "importer_lab" ("approved_by_id");
-- next --
CREATE INDEX "importer_trial_lab_id_f31c31c7" ON "importer_trial" ("lab_id");
-- next --
CREATE INDEX "importer_importjob_status_ce7d9166" ON "importer_importjob" ("status");
-- next --
CREATE INDEX "importer_importjob_created_at_58416ff9" ON "importer_importjob" ("created_at");
-- next --
CREATE INDEX "importer_importjob_rows_per_second_a9550322" ON "importer_importjob" ("rows_per_second");
-- next --
CREATE INDEX "importer_importjob_created_by_id_73b41954" ON "importer_importjob" ("created_by_id");
-- next --
CREATE INDEX "importer_importjob_source_id_3b768fb9" ON "importer_importjob" ("source_id");
-- next --
CREATE INDEX "importer_importjob_target_id_a3be91db" ON "importer_importjob" ("target_id");
-- next --
CREATE INDEX "importer_importjob_asked_by_id_6841104c" ON "importer_importjob" ("asked_by_id");
-- next --
CREATE INDEX "importer_importjob_approved_by_id_8276b768" ON "importer_importjob" ("approved_by_id");
-- next --
CREATE INDEX "importer_importjob_rejects_of_id_21683cee" ON "importer_importjob" ("rejects_of_id");
-- next --
CREATE INDEX "imports_of_file" ON "importer_importjob" ("source_id", "target_id", "schema_name", "table_name");
-- next --
CREATE INDEX "imports_by_end" ON "importer_importjob" ("finished_at");
-- next --
CREATE INDEX "importer_jobrecord_created_by_id_97d9cb56" ON "importer_jobrecord" ("created_by_id");
-- next --
CREATE INDEX "importer_jobrecord_ended_at_7162a058" ON "importer_jobrecord" ("ended_at");
-- next --
CREATE INDEX "importer_jobrecord_target_id_80845376" ON "importer_jobrecord" ("target_id");
-- next --
CREATE INDEX "importer_jobfact_record_id_2e35db1e" ON "importer_jobfact" ("record_id");
-- next --
CREATE INDEX "column_of_facts" ON "importer_jobfact" ("name", "record_id", "number", "text");
-- next --
CREATE INDEX "importer_schedule_next_due_at_fd2ceb5f" ON "importer_schedule" ("next_due_at");
-- next --
CREATE INDEX "importer_schedule_connection_id_b4799f6c" ON "importer_schedule" ("connection_id");
-- next --
CREATE INDEX "importer_schedule_created_by_id_be2f9e54" ON "importer_schedule" ("created_by_id");
-- next --
CREATE INDEX "importer_schedule_target_id_eb0ee760" ON "importer_schedule" ("target_id");
-- next --
CREATE INDEX "importer_schedulerun_late_at_0d6376a2" ON "importer_schedulerun" ("late_at");
-- next --
CREATE INDEX "importer_schedulerun_asked_by_id_735ae425" ON "importer_schedulerun" ("asked_by_id");
-- next --
CREATE INDEX "importer_schedulerun_schedule_id_370a34ab" ON "importer_schedulerun" ("schedule_id");
-- next --
CREATE INDEX "run_by_status" ON "importer_schedulerun" ("status", "woken_at");
-- next --
CREATE INDEX "importer_discoveredfile_job_id_28a361ed" ON "importer_discoveredfile" ("job_id");
-- next --
CREATE INDEX "importer_discoveredfile_source_id_2019bb08" ON "importer_discoveredfile" ("source_id");
-- next --
CREATE INDEX "importer_discoveredfile_run_id_2093d7cd" ON "importer_discoveredfile" ("run_id");
-- next --
CREATE INDEX "importer_discoveredfile_schedule_id_49e5604c" ON "importer_discoveredfile" ("schedule_id");
-- next --
CREATE INDEX "picked_by_identity" ON "importer_discoveredfile" ("schedule_id", "identity");
-- next --
CREATE INDEX "picked_by_fingerprint" ON "importer_discoveredfile" ("schedule_id", "fingerprint");
-- next --
CREATE INDEX "picked_by_outcome" ON "importer_discoveredfile" ("run_id", "outcome");
-- next --
CREATE INDEX "importer_subscription_channel_id_4c7c9fb3" ON "importer_subscription" ("channel_id");
-- next --
CREATE INDEX "importer_subscription_schedule_id_6d5fe56d" ON "importer_subscription" ("schedule_id");
-- next --
CREATE INDEX "importer_notification_created_at_b257246b" ON "importer_notification" ("created_at");
-- next --
CREATE INDEX "importer_notification_channel_id_4b0518d1" ON "importer_notification" ("channel_id");
-- next --
CREATE INDEX "importer_notification_job_id_bb848160" ON "importer_notification" ("job_id");
-- next --
CREATE INDEX "importer_notification_run_id_cfa8bd8a" ON "importer_notification" ("run_id");
-- next --
CREATE INDEX "importer_notification_schedule_id_33436598" ON "importer_notification" ("schedule_id");
-- next --
CREATE INDEX "notices_due" ON "importer_notification" ("status", "next_at");
-- next --
CREATE INDEX "importer_grant_channel_id_234dcd3f" ON "importer_grant" ("channel_id");
-- next --
CREATE INDEX "importer_grant_connection_id_ce4afcea" ON "importer_grant" ("connection_id");
-- next --
CREATE INDEX "importer_grant_group_id_b28084b6" ON "importer_grant" ("group_id");
-- next --
CREATE INDEX "importer_grant_target_id_994455f1" ON "importer_grant" ("target_id");
-- next --
CREATE INDEX "importer_grant_user_id_df211343" ON "importer_grant" ("user_id");
-- next --
CREATE INDEX "importer_auditevent_at_95c100f6" ON "importer_auditevent" ("at");
-- next --
CREATE INDEX "importer_auditevent_actor_id_8f456fbd" ON "importer_auditevent" ("actor_id");
-- next --
CREATE INDEX "importer_limitcount_kept_until_7f390310" ON "importer_limitcount" ("kept_until");
-- next --
CREATE INDEX "importer_retentionpolicy_changed_by_id_7e999bd4" ON "importer_retentionpolicy" ("changed_by_id");
-- next --
CREATE INDEX "importer_accesstoken_user_id_d55f4393" ON "importer_accesstoken" ("user_id");
-- next --
CREATE INDEX "importer_savedfilter_user_id_ce3e9932" ON "importer_savedfilter" ("user_id");
-- next --
CREATE INDEX "importer_rowfix_job_id_452b14e9" ON "importer_rowfix" ("job_id");
-- next --
CREATE INDEX "importer_rowfix_person_id_047d0510" ON "importer_rowfix" ("person_id");
-- next --
CREATE INDEX "importer_rowfix_taken_by_id_d1fd822f" ON "importer_rowfix" ("taken_by_id");
-- next --
CREATE INDEX "importer_sourcemember_file_id_92b64a74" ON "importer_sourcemember" ("file_id");
-- next --
CREATE INDEX "importer_sourcemember_whole_id_0229830b" ON "importer_sourcemember" ("whole_id");
-- next --
CREATE INDEX "importer_answeredrequest_created_at_ce89c60d" ON "importer_answeredrequest" ("created_at");
-- next --
CREATE INDEX "importer_answeredrequest_user_id_d7f48399" ON "importer_answeredrequest" ("user_id");
-- next --
CREATE INDEX "importer_sourcefile_fingerprint_8b210544" ON "importer_sourcefile" ("fingerprint");
-- next --
CREATE INDEX "importer_sourcefile_uploaded_by_id_c33a89ab" ON "importer_sourcefile" ("uploaded_by_id");
-- next --
CREATE INDEX "importer_sourcefile_connection_id_b99178c0" ON "importer_sourcefile" ("connection_id");
-- next --
CREATE INDEX "django_session_expire_date_a5c62663" ON "django_session" ("expire_date");
-- next --
CREATE UNIQUE INDEX "socialaccount_socialtoken_app_id_account_id_fca4e0ac_uniq" ON "socialaccount_socialtoken" ("app_id", "account_id");
-- next --
CREATE INDEX "socialaccount_socialtoken_account_id_951f210e" ON "socialaccount_socialtoken" ("account_id");
-- next --
CREATE INDEX "socialaccount_socialtoken_app_id_636a42d7" ON "socialaccount_socialtoken" ("app_id");
-- next --
CREATE UNIQUE INDEX "socialaccount_socialaccount_provider_uid_fc810c6e_uniq" ON "socialaccount_socialaccount" ("provider", "uid");
-- next --
CREATE INDEX "socialaccount_socialaccount_user_id_8146e70c" ON "socialaccount_socialaccount" ("user_id");
-- next --
CREATE INDEX "usersessions_usersession_user_id_af5e0a6d" ON "usersessions_usersession" ("user_id");
-- next --
DELETE FROM "sqlite_sequence";
-- next --
INSERT INTO "sqlite_sequence" VALUES('django_migrations',97);
-- next --
INSERT INTO "sqlite_sequence" VALUES('account_emailaddress',0);
-- next --
INSERT INTO "sqlite_sequence" VALUES('django_content_type',40);
-- next --
INSERT INTO "sqlite_sequence" VALUES('auth_permission',160);
-- next --
INSERT INTO "sqlite_sequence" VALUES('auth_group',0);
-- next --
INSERT INTO "sqlite_sequence" VALUES('auth_user',0);
-- next --
INSERT INTO "sqlite_sequence" VALUES('mfa_authenticator',0);
-- next --
INSERT INTO "sqlite_sequence" VALUES('importer_importjob',0);
-- next --
INSERT INTO "sqlite_sequence" VALUES('importer_sourcefile',0);
-- next --
INSERT INTO "sqlite_sequence" VALUES('importer_target',0);
-- next --
INSERT INTO "sqlite_sequence" VALUES('socialaccount_socialapp',0);
-- next --
INSERT INTO "sqlite_sequence" VALUES('socialaccount_socialtoken',0);
-- next --
INSERT INTO "sqlite_sequence" VALUES('socialaccount_socialaccount',0);
-- next --
