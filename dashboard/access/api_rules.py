"""The rule of each address of the API, for each of its methods: that of the page which does the same."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from config.serving.refusals import API as ADDRESSES
from dashboard.access import rules
from dashboard.access.rules import OPERATORS, RULES, Rule
from importer.access import limits
from importer.models import AccessToken, Level, SavedFilter, Scope

READING = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Does:
    """What a method does at an address.

    `page`: the name of the page that does the same; its rule holds here, and the audit log has its name as the action.
    `own_rule`: instead of the page's, where the page's address names a thing and this one does not.
    """

    page: str
    own_rule: Rule | None = None

    @property
    def rule(self) -> Rule:
        """The rule. What a page forbids to tokens is allowed here to those that have the scope for it."""
        return replace(self.own_rule or RULES[self.page], no_token=False)


@dataclass(frozen=True)
class Asked:
    """What a request asks for: the action as the audit log has it, its rule, and whether it must bring a token."""

    action: str
    rule: Rule
    by_token: bool = False


# Made from a file that the request's body names; the view looks it up among those that the person may see.
_OF_A_FILE = replace(OPERATORS, rate=limits.STARTS)
_CONTINUING = replace(RULES["upload"], rate=limits.UPLOADS, recorded=rules.CHANGES)
_SCHEDULING = RULES["schedule_preview"]
# About the person's own account, which every person has.
_OWN = Rule(account=True, scope=Scope.IMPORT)

API: Mapping[str, Mapping[str, Does]] = {
    "api_approvals": {"GET": Does("jobs")},
    "api_import_approval": {"GET": Does("job")},
    "api_import_approve": {"POST": Does("job_approve")},
    "api_lab_approval": {"GET": Does("lab")},
    "api_lab_approve": {"POST": Does("lab_approve")},
    "api_lab_refuse": {"POST": Does("lab_refuse")},
    "api_workers": {"GET": Does("workers")},
    "api_storage": {"GET": Does("storage")},
    "api_policies": {"GET": Does("storage")},
    "api_policy": {"PATCH": Does("storage_policy")},
    "api_kept_tables": {"GET": Does("storage")},
    "api_storage_file": {"DELETE": Does("storage_file_delete")},
    "api_filters": {"GET": Does("jobs", _OWN), "POST": Does("account_filter_save", _OWN)},
    "api_filter": {"DELETE": Does("account_filter_delete", replace(_OWN, thing=SavedFilter))},
    "api_targets": {"GET": Does("targets"), "POST": Does("target_new")},
    "api_target": {"GET": Does("target"), "PATCH": Does("target"), "DELETE": Does("target_delete")},
    "api_target_check": {"POST": Does("target_check")},
    "api_target_tables": {"GET": Does("new_tables", rules.TARGET)},
    "api_target_columns": {"GET": Does("new_tables", rules.TARGET)},
    "api_uploads": {"OPTIONS": Does("uploads"), "POST": Does("uploads")},
    "api_upload": {
        "OPTIONS": Does("upload"),
        "HEAD": Does("upload"),
        "PATCH": Does("upload"),
        "DELETE": Does("upload"),
    },
    "api_direct_uploads": {"POST": Does("direct_uploads")},
    "api_direct_upload": {"GET": Does("direct_upload"), "POST": Does("direct_upload")},
    "api_direct_part": {"POST": Does("direct_part")},
    "api_files": {"GET": Does("new")},
    "api_file": {"GET": Does("new_source", rules.FILE), "DELETE": Does("remove_source")},
    "api_file_continue": {"POST": Does("upload", _CONTINUING)},
    "api_plans": {"POST": Does("new_source", replace(OPERATORS, recorded=()))},
    "api_checks": {"POST": Does("new_findings", replace(OPERATORS, rate=limits.STARTS, recorded=()))},
    "api_imports": {"GET": Does("jobs"), "POST": Does("start_import", _OF_A_FILE)},
    "api_import": {"GET": Does("job"), "DELETE": Does("job_delete")},
    "api_import_events": {"GET": Does("job_live", replace(rules.JOB, places=limits.LISTENERS))},
    "api_import_pause": {"POST": Does("job_pause")},
    "api_import_resume": {"POST": Does("job_resume")},
    "api_import_cancel": {"POST": Does("job_cancel")},
    "api_import_refuse": {"POST": Does("job_refuse")},
    "api_import_retry": {"POST": Does("job_retry")},
    "api_import_apply": {"POST": Does("job_apply")},
    "api_import_compare": {"POST": Does("job_compare_again")},
    "api_import_drop": {"POST": Does("job_drop_staged")},
    "api_import_dismiss": {"POST": Does("job_dismiss")},
    "api_import_run_again": {"POST": Does("job_run_again")},
    "api_import_parallel": {"POST": Does("job_parallelism")},
    "api_import_priority": {"POST": Does("job_priority")},
    "api_import_restore": {"POST": Does("job_restore")},
    "api_import_drop_backup": {"POST": Does("job_drop_backup")},
    "api_import_restore_now": {"POST": Does("job_restore_now")},
    "api_import_end_without": {"POST": Does("job_end_without")},
    "api_import_preset": {"POST": Does("job_preset")},
    "api_import_causes": {"GET": Does("job_why")},
    "api_import_chunks": {"GET": Does("job_chunks")},
    "api_import_rows": {"GET": Does("job_table_rows")},
    "api_import_rejects": {"GET": Does("job_rejected")},
    "api_import_reject": {"GET": Does("job_fix_row"), "PATCH": Does("job_fix_row"), "DELETE": Does("job_fix_row")},
    "api_import_rejects_load": {"POST": Does("job_load_fixed")},
    "api_import_rejects_file": {"POST": Does("job_again")},
    "api_import_reject_file": {"GET": Does("job_reject_file")},
    "api_import_reasons_file": {"GET": Does("job_reasons_file")},
    "api_schedules": {"GET": Does("schedules"), "POST": Does("schedule_new")},
    "api_schedule": {"GET": Does("schedule"), "PATCH": Does("schedule_edit"), "DELETE": Does("schedule_delete")},
    "api_schedule_pause": {"POST": Does("schedule_pause")},
    "api_schedule_resume": {"POST": Does("schedule_resume")},
    "api_schedule_run": {"POST": Does("schedule_run")},
    "api_schedule_plan": {"POST": Does("schedule_preview", replace(_SCHEDULING, recorded=()))},
    "api_schedule_forget": {"POST": Does("schedule_forget")},
    "api_schedule_backfill": {"POST": Does("schedule_backfill")},
    "api_schedule_header": {"GET": Does("schedule_header"), "POST": Does("schedule_header")},
    "api_schedule_subscriptions": {"GET": Does("schedule_subscriptions"), "PUT": Does("schedule_subscriptions")},
    "api_schedule_runs": {"GET": Does("schedule")},
    "api_run": {"GET": Does("schedule", RULES["run_cancel"])},
    "api_run_cancel": {"POST": Does("run_cancel")},
    "api_run_dismiss": {"POST": Does("run_dismiss")},
    "api_run_again": {"POST": Does("run_again")},
    "api_presets": {"GET": Does("presets"), "POST": Does("save_preset", OPERATORS)},
    "api_preset": {
        "GET": Does("preset"),
        "PUT": Does("save_preset", rules.PRESET),
        "PATCH": Does("preset_rename"),
        "DELETE": Does("preset_delete"),
    },
    "api_connections": {"GET": Does("connections"), "POST": Does("connection_new")},
    "api_connection": {
        "GET": Does("connection"),
        "PATCH": Does("connection"),
        "DELETE": Does("connection_delete"),
    },
    "api_connection_confirm": {"POST": Does("connection_confirm")},
    "api_connection_check": {"POST": Does("connection_check")},
    "api_connection_files": {"GET": Does("connection_files", replace(rules.CONNECTION, look=Level.LOAD))},
    "api_connection_lines": {"GET": Does("connection_files", replace(rules.CONNECTION, look=Level.LOAD))},
    "api_channels": {"GET": Does("channels"), "POST": Does("channel_new")},
    "api_channel": {"GET": Does("channel"), "PATCH": Does("channel"), "DELETE": Does("channel_delete")},
    "api_channel_test": {"POST": Does("channel_test")},
    "api_channel_send_now": {"POST": Does("channel_send_now")},
    "api_channel_discard": {"POST": Does("channel_discard")},
    "api_channel_notices": {"GET": Does("channel")},
    "api_notice_again": {"POST": Does("notice_again")},
    "api_labs": {"GET": Does("labs"), "POST": Does("lab_new")},
    "api_lab": {"GET": Does("lab")},
    "api_lab_cancel": {"POST": Does("lab_cancel")},
    "api_lab_plan": {"POST": Does("lab_new", replace(OPERATORS, recorded=()))},
    "api_lab_clean_now": {"POST": Does("lab_clean_now")},
    "api_lab_end_without": {"POST": Does("lab_end_without")},
    "api_lab_preset": {"POST": Does("lab_preset")},
    "api_experiments": {"GET": Does("lab_experiments"), "POST": Does("lab_experiment_start")},
    "api_lab_report": {"GET": Does("lab_report")},
    "api_history": {"GET": Does("history")},
    "api_history_csv": {"GET": Does("history_csv")},
    "api_history_compare": {"GET": Does("history_compare")},
    "api_history_values": {"GET": Does("history_values")},
    "api_account": {"GET": Does("account_own", _OWN), "PATCH": Does("account_own", _OWN)},
    "api_account_tokens": {"GET": Does("account_own", _OWN)},
    "api_account_token": {"DELETE": Does("account_token_revoke", replace(_OWN, thing=AccessToken))},
    "api_people": {"GET": Does("people"), "POST": Does("person_new")},
    "api_person": {"GET": Does("person"), "PATCH": Does("person")},
    "api_person_grants": {"POST": Does("person_grant")},
    "api_person_invitation": {"POST": Does("person_link")},
    "api_groups": {"GET": Does("groups"), "POST": Does("groups")},
    "api_group": {"GET": Does("group"), "PATCH": Does("group"), "DELETE": Does("group_delete")},
    "api_group_grants": {"POST": Does("group_grant")},
    "api_person_tokens": {"GET": Does("person")},
    "api_grant": {"DELETE": Does("grant_revoke")},
    "api_token": {"DELETE": Does("account_token_revoke", replace(rules.PEOPLE, thing=AccessToken))},
    "api_audit": {"GET": Does("audit")},
    "api_audit_csv": {"GET": Does("audit_csv")},
}


def is_api(address: str) -> bool:
    """Whether a path is one of the API, whose errors are problems as JSON."""
    return address.startswith(ADDRESSES)


def asked(name: str, method: str | None) -> Asked | None:
    """What a request for the URL of this name asks for; None for a URL without a rule.

    A method that an address does not have is refused after its rule: that of another of its methods.
    """
    if methods := API.get(name):
        does = methods.get(method or "") or next(iter(methods.values()))
        return Asked(does.page, does.rule, by_token=True)
    rule = rules.rule_of(name)
    return Asked(name, rule) if rule else None
