"""Notifies people of imports, by mail and webhook. Only this package writes notifications.

import_events.py decides which ends of imports and schedule runs are events. outbox.py stores a notification with its
payload for each channel that subscribes to the event. payload.py and rendering.py make the content. delivery.py sends
and retries. channel_kinds.py lists the kinds of channels, declared in email.py and webhook.py. channels.py saves and
tests channels. docs/notifications.md is the documentation for receivers.
"""
