"""The words of the audit log's page for actions and details."""

from typing import Any

from importer.models import AuditEvent

# Actions whose URL's name does not say what they are.
WORDS = {
    "sign_in": "sign in",
    "sign_out": "sign out",
    "command": "command",
    "import": "import of a schedule",
    "start_import": "start import",
    "remove_source": "remove upload",
    "uploads": "begin upload",
    "upload": "remove upload",
    "direct_uploads": "begin upload into store",
    "new_from": "choose file of connection",
    "new_places": "choose file by address or path",
    "new_together": "read files as one",
    "save_preset": "save preset",
    "jobs_bulk": "act on many imports",
    "account_filter_save": "save filter",
    "account_filter_delete": "delete filter",
    "job_pause": "pause import",
    "job_resume": "resume import",
    "job_cancel": "cancel import",
    "job_approve": "approve import",
    "job_refuse": "refuse import",
    "job_retry": "retry import",
    "job_restore": "restore old table",
    "job_drop_backup": "drop old table",
    "job_restore_now": "put back keys and variables again",
    "job_end_without": "end import without putting back",
    "job_table_rows": "look at rows of table",
    "job_rejected": "look at rejected rows",
    "job_fix_row": "look at a rejected row",
    "job_parallelism": "change parallel chunks",
    "job_priority": "change priority of import",
    "job_reject_file": "download rejected rows",
    "job_reasons_file": "download reasons of rejects",
    "job_load_fixed": "load fixed rows",
    "job_run_again": "run import again",
    "job_again": "import rejects again",
    "job_preset": "save preset of import",
    "job_delete": "delete import",
    "storage_policy": "change what is kept",
    "storage_file_delete": "delete file",
    "schedule_new": "add schedule",
    "schedule_edit": "change schedule",
    "schedule_subscriptions": "choose who is notified",
    "schedule_pause": "pause schedule",
    "schedule_resume": "resume schedule",
    "schedule_run": "run schedule",
    "schedule_forget": "forget a schedule's file",
    "schedule_delete": "delete schedule",
    "schedule_backfill": "run schedule for past days",
    "schedule_header": "accept header of schedule",
    "run_cancel": "cancel run",
    "run_again": "run again",
    "lab_new": "start lab",
    "lab_cancel": "cancel lab",
    "lab_clean_now": "clean up lab now",
    "lab_end_without": "end lab without clean-up",
    "lab_approve": "approve lab",
    "lab_refuse": "refuse lab",
    "lab_preset": "save preset of lab",
    "preset_rename": "rename preset",
    "preset_delete": "delete preset",
    "target_new": "add target",
    "target": "change target",
    "target_check": "check target",
    "target_delete": "delete target",
    "connection_new": "add connection",
    "connection": "change connection",
    "connection_check": "check connection",
    "connection_confirm": "trust host key",
    "connection_delete": "delete connection",
    "channel_new": "add channel",
    "channel": "change channel",
    "channel_switch": "switch channel on or off",
    "channel_test": "test channel",
    "channel_delete": "delete channel",
    "notice_again": "send notice again",
    "person_new": "add person",
    "person": "change person",
    "person_active": "activate or deactivate person",
    "person_link": "create link for password",
    "person_factors": "remove second factors of person",
    "person_groups": "choose groups of person",
    "person_grant": "grant to person",
    "groups": "add group",
    "group": "rename group",
    "group_members": "choose members of group",
    "group_grant": "grant to group",
    "group_delete": "delete group",
    "grant_revoke": "revoke grant",
    "invitation": "set password by link",
    "audit_csv": "export audit log",
    "wrong_token": "try a wrong token",
    "account_token_new": "create token",
    "account_token_revoke": "revoke token",
    "account_own": "change own time zone",
    "account_change_password": "change own password",
    "account_reauthenticate": "confirm with password",
    "mfa_reauthenticate": "confirm with code",
    "mfa_reauthenticate_webauthn": "confirm with passkey",
    "mfa_activate_totp": "add app for codes",
    "mfa_deactivate_totp": "remove app for codes",
    "mfa_add_webauthn": "add passkey",
    "mfa_remove_webauthn": "remove passkey",
    "mfa_generate_recovery_codes": "make recovery codes",
}


def action_words(action: str) -> str:
    """An action in words."""
    return WORDS.get(action) or action.replace("_", " ")


def detail_words(event: AuditEvent) -> list[tuple[str, str]]:
    """The details of an event, each with its name: old and new value of what changed."""
    return [(name.replace("_", " "), _words(value)) for name, value in event.details.items() if value not in ("", [])]


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value.get('old') or 'none'} → {value.get('new') or 'none'}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
