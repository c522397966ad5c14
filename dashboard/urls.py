"""The URLs of all pages, each of which has a view module of its own; and those of the API."""

from django.urls import path

from dashboard.api import urls as api
from dashboard.channels import views
from dashboard.connections import views as connections
from dashboard.history import views as history
from dashboard.home import views as home
from dashboard.jobs import approval, compare, delete, detail, run_again
from dashboard.jobs.cards import chunk_details, why
from dashboard.jobs.list import bulk, saved
from dashboard.jobs.list import page as list
from dashboard.jobs.rejects import files
from dashboard.jobs.rejects import views as rejects
from dashboard.lab import detail as lab
from dashboard.lab import experiments as lab_experiments
from dashboard.lab import list as labs
from dashboard.lab import new as lab_new
from dashboard.new_import import connection_files, presets
from dashboard.new_import import views as new
from dashboard.new_import.grid import problems as new_problems
from dashboard.new_import.uploading import direct, tus
from dashboard.people import grants, groups, invitation, own, people
from dashboard.schedules import again as schedule_again
from dashboard.schedules import detail as schedule
from dashboard.schedules import list as schedules
from dashboard.schedules import subscriptions
from dashboard.sign_in import urls as sign_in
from dashboard.system import health, storage, workers
from dashboard.system.audit import views as audit
from dashboard.system.metrics import view as metrics
from dashboard.targets import views as targets

pages = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    *sign_in.urlpatterns,
    path("", home.home, name="home"),
    # the imports
    path("jobs/", list.jobs, name="jobs"),
    path("jobs/all/", bulk.bulk, name="jobs_bulk"),
    path("jobs/filters/", saved.save, name="account_filter_save"),
    path("jobs/filters/<int:pk>/delete/", saved.delete, name="account_filter_delete"),
    # one import
    path("jobs/<int:pk>/", detail.job, name="job"),
    path("jobs/<int:pk>/live/", detail.live, name="job_live"),
    path("jobs/<int:pk>/rates/", detail.rates, name="job_rates"),
    path("jobs/<int:pk>/chunks/<int:first>-<int:last>/", detail.problem_chunks, name="job_problem_chunks"),
    path("jobs/<int:pk>/why/", why.job_why, name="job_why"),
    path("jobs/<int:pk>/rows/", detail.table_rows, name="job_table_rows"),
    path("jobs/<int:pk>/map/<int:first>-<int:last>/", chunk_details.chunks, name="job_chunks"),
    path("jobs/<int:pk>/timings/", detail.timings, name="job_timings"),
    path("jobs/<int:pk>/pause/", detail.pause, name="job_pause"),
    path("jobs/<int:pk>/resume/", detail.resume, name="job_resume"),
    path("jobs/<int:pk>/cancel/", detail.cancel, name="job_cancel"),
    path("jobs/<int:pk>/approve/", approval.approve, name="job_approve"),
    path("jobs/<int:pk>/refuse/", approval.refuse, name="job_refuse"),
    path("jobs/<int:pk>/dismiss/", detail.dismiss, name="job_dismiss"),
    path("jobs/<int:pk>/retry/", detail.retry, name="job_retry"),
    path("jobs/<int:pk>/apply/", detail.apply, name="job_apply"),
    path("jobs/<int:pk>/compare-again/", detail.compare_again, name="job_compare_again"),
    path("jobs/<int:pk>/drop-staged/", detail.drop_staged, name="job_drop_staged"),
    path("jobs/<int:pk>/restore-now/", detail.restore_now, name="job_restore_now"),
    path("jobs/<int:pk>/end-without/", detail.end_without, name="job_end_without"),
    path("jobs/<int:pk>/restore/", detail.restore, name="job_restore"),
    path("jobs/<int:pk>/drop-kept/", detail.drop_backup, name="job_drop_backup"),
    path("jobs/<int:pk>/parallelism/", detail.parallelism, name="job_parallelism"),
    path("jobs/<int:pk>/priority/", detail.priority, name="job_priority"),
    path("jobs/<int:pk>/rejects/", files.reject_file, name="job_reject_file"),
    path("jobs/<int:pk>/reasons/", files.reasons_file, name="job_reasons_file"),
    path("jobs/<int:pk>/rejected/", rejects.rejected, name="job_rejected"),
    path("jobs/<int:pk>/rejected/<int:chunk>-<int:place>/", rejects.fix_row, name="job_fix_row"),
    path("jobs/<int:pk>/rejected/fixed/", rejects.fixed_rows, name="job_fixed_rows"),
    path("jobs/<int:pk>/rejected/load/", rejects.load_fixed, name="job_load_fixed"),
    path("jobs/<int:pk>/edit/", run_again.edit, name="job_edit"),
    path("jobs/<int:pk>/run-again/", run_again.run_again, name="job_run_again"),
    path("jobs/<int:pk>/again/", files.again, name="job_again"),
    path("jobs/<int:pk>/delete/", delete.job_delete, name="job_delete"),
    # a new import
    path("new/", new.new, name="new"),
    path("new/tables/", new.tables, name="new_tables"),
    path("new/together/", connection_files.together, name="new_together"),
    path("new/from/", connection_files.places, name="new_places"),
    path("new/from/<int:pk>/", connection_files.files, name="new_from"),
    path("new/from/<int:pk>/lines/", connection_files.lines, name="new_from_lines"),
    path("new/<uuid:key>/", new.new_source, name="new_source"),
    path("new/<uuid:key>/findings/", new_problems.findings, name="new_findings"),
    path("new/<uuid:key>/start/", new.start, name="start_import"),
    path("new/<uuid:key>/remove/", new.remove, name="remove_source"),
    path("new/<uuid:key>/preset/", new.save_preset, name="save_preset"),
    path("uploads/", tus.uploads, name="uploads"),
    path("uploads/direct/", direct.uploads, name="direct_uploads"),
    path("uploads/direct/<uuid:key>/", direct.upload, name="direct_upload"),
    path("uploads/direct/<uuid:key>/parts/", direct.part, name="direct_part"),
    path("uploads/<uuid:key>/", tus.upload, name="upload"),
    # the schedules
    path("schedules/", schedules.schedules, name="schedules"),
    path("schedules/new/", schedules.schedule_new, name="schedule_new"),
    path("schedules/preview/", schedules.schedule_preview, name="schedule_preview"),
    path("schedules/<int:pk>/", schedule.schedule, name="schedule"),
    path("schedules/<int:pk>/edit/", schedules.schedule_edit, name="schedule_edit"),
    path("schedules/<int:pk>/told/", subscriptions.subscriptions, name="schedule_subscriptions"),
    path("schedules/<int:pk>/pause/", schedule.pause, name="schedule_pause"),
    path("schedules/<int:pk>/resume/", schedule.resume, name="schedule_resume"),
    path("schedules/<int:pk>/run/", schedule.run, name="schedule_run"),
    path("schedules/<int:pk>/forget/", schedule.forget, name="schedule_forget"),
    path("schedules/<int:pk>/delete/", schedule.delete, name="schedule_delete"),
    path("schedules/<int:pk>/backfill/", schedule_again.backfill, name="schedule_backfill"),
    path("schedules/<int:pk>/header/", schedule_again.header, name="schedule_header"),
    path("runs/<int:pk>/cancel/", schedule.cancel_run, name="run_cancel"),
    path("runs/<int:pk>/dismiss/", schedule.dismiss_run, name="run_dismiss"),
    path("runs/<int:pk>/again/", schedule_again.run_again, name="run_again"),
    # the history
    path("history/", history.history, name="history"),
    path("history/compare/", compare.compare_imports, name="history_compare"),
    path("history/chart/", history.chart, name="history_chart"),
    path("history/values/", history.values, name="history_values"),
    path("history.csv", history.export, {"form": "csv"}, name="history_csv"),
    path("history.json", history.export, {"form": "json"}, name="history_json"),
    # the lab
    path("labs/", labs.labs, name="labs"),
    path("labs/new/", lab_new.lab_new, name="lab_new"),
    path("labs/experiments/", lab_experiments.experiments, name="lab_experiments"),
    path("labs/experiments/start/", lab_experiments.start, name="lab_experiment_start"),
    path("labs/<int:pk>/report/", lab_experiments.report, name="lab_report"),
    path("labs/<int:pk>/", lab.lab, name="lab"),
    path("labs/<int:pk>/live/", lab.live, name="lab_live"),
    path("labs/<int:pk>/charts/", lab.charts, name="lab_charts"),
    path("labs/<int:pk>/cancel/", lab.cancel, name="lab_cancel"),
    path("labs/<int:pk>/approve/", lab.approve, name="lab_approve"),
    path("labs/<int:pk>/refuse/", lab.refuse, name="lab_refuse"),
    path("labs/<int:pk>/clean-now/", lab.clean_now, name="lab_clean_now"),
    path("labs/<int:pk>/end-without/", lab.end_without, name="lab_end_without"),
    path("labs/<int:pk>/preset/", lab.save_preset, name="lab_preset"),
    # the presets
    path("presets/", presets.presets, name="presets"),
    path("presets/<int:pk>/", presets.preset, name="preset"),
    path("presets/<int:pk>/rename/", presets.rename, name="preset_rename"),
    path("presets/<int:pk>/delete/", presets.delete, name="preset_delete"),
    path("jobs/<int:pk>/preset/", presets.save_job, name="job_preset"),
    # the targets
    path("targets/", targets.targets, name="targets"),
    path("targets/new/", targets.target_new, name="target_new"),
    path("targets/<int:pk>/", targets.target, name="target"),
    path("targets/<int:pk>/check/", targets.target_check, name="target_check"),
    path("targets/<int:pk>/delete/", targets.target_delete, name="target_delete"),
    # the connections
    path("connections/", connections.connections, name="connections"),
    path("connections/new/", connections.connection_new, name="connection_new"),
    path("connections/<int:pk>/", connections.connection, name="connection"),
    path("connections/<int:pk>/files/", connections.connection_files, name="connection_files"),
    path("connections/<int:pk>/check/", connections.connection_check, name="connection_check"),
    path("connections/<int:pk>/confirm/", connections.connection_confirm, name="connection_confirm"),
    path("connections/<int:pk>/delete/", connections.connection_delete, name="connection_delete"),
    # the channels
    path("channels/", views.channels, name="channels"),
    path("channels/new/", views.channel_new, name="channel_new"),
    path("channels/<int:pk>/", views.channel, name="channel"),
    path("channels/<int:pk>/switch/", views.channel_switch, name="channel_switch"),
    path("channels/<int:pk>/test/", views.channel_test, name="channel_test"),
    path("channels/<int:pk>/send-now/", views.channel_send_now, name="channel_send_now"),
    path("channels/<int:pk>/discard/", views.channel_discard, name="channel_discard"),
    path("channels/<int:pk>/delete/", views.channel_delete, name="channel_delete"),
    path("notices/<int:pk>/again/", views.notice_again, name="notice_again"),
    # the people
    path("people/", people.people, name="people"),
    path("people/new/", people.person_new, name="person_new"),
    path("people/<int:pk>/", people.person, name="person"),
    path("people/<int:pk>/active/", people.person_active, name="person_active"),
    path("people/<int:pk>/link/", people.person_link, name="person_link"),
    path("people/<int:pk>/factors/", people.person_factors, name="person_factors"),
    path("people/<int:pk>/groups/", people.person_groups, name="person_groups"),
    path("people/<int:pk>/grants/", grants.person_grant, name="person_grant"),
    path("groups/", groups.groups, name="groups"),
    path("groups/<int:pk>/", groups.group, name="group"),
    path("groups/<int:pk>/members/", groups.group_members, name="group_members"),
    path("groups/<int:pk>/grants/", grants.group_grant, name="group_grant"),
    path("groups/<int:pk>/delete/", groups.group_delete, name="group_delete"),
    path("grants/<int:pk>/revoke/", grants.grant_revoke, name="grant_revoke"),
    path("account/", own.account, name="account_own"),
    path("account/tokens/new/", own.token_new, name="account_token_new"),
    path("account/tokens/<int:pk>/revoke/", own.token_revoke, name="account_token_revoke"),
    path("invitation/<str:uidb64>/<str:token>/", invitation.invitation, name="invitation"),
    # the workers
    path("workers/", workers.workers, name="workers"),
    # the storage
    path("storage/", storage.storage, name="storage"),
    path("storage/policies/", storage.policy, name="storage_policy"),
    path("storage/files/<uuid:key>/", storage.file_delete, name="storage_file_delete"),
    # the audit log
    path("audit/", audit.events, name="audit"),
    path("audit.csv", audit.export, name="audit_csv"),
    # about the API
    path("api/docs/", api.docs, name="api_docs"),
    path("api/v1/openapi.json", api.description.view, name="api_schema"),
]
urlpatterns = [*pages, *api.urlpatterns]
