{% load millrace %}
{# Outside the form: entering the name of a preset must not update the preview. #}
<div class="start-bar" id="bar-{{ key }}">
  <button type="submit" form="form-{{ key }}" class="btn btn-primary" id="start-{{ key }}" formaction="{% url 'start_import' key %}" hx-post="{% url 'start_import' key %}" hx-include="#form-{{ key }}" hx-target="#source-{{ key }}" hx-swap="outerHTML" hx-sync="#form-{{ key }}:replace" hx-disabled-elt="this"{% if not preview.startable or batch.refusal %} disabled{% endif %} aria-describedby="start-message-{{ key }}"><span>Import{% if batch.files > 1 %} {{ batch.files }} files{% elif batch.others %} 1 of {{ batch.others|length|add:1 }} files{% endif %}{% if preview.table %} into {{ preview.table.schema }}.<wbr>{{ preview.table.name }}{% endif %}{% if source.arriving %}{% if preview.prepared.waits_for_whole_file %} when uploaded{% else %} while it uploads{% endif %}{% endif %}</span></button>
  {% include "new_import/steps/_misfits.html" with problems=grid.problems examining=grid.examining stops=grid.stops startable=preview.startable %}
  {% if preview.choices.mode == "update" or preview.choices.mode == "sync" %}<button type="submit" form="form-{{ key }}" class="btn" id="look-{{ key }}" name="look" value="yes" formaction="{% url 'start_import' key %}" hx-post="{% url 'start_import' key %}" hx-include="#form-{{ key }}" hx-target="#source-{{ key }}" hx-swap="outerHTML" hx-sync="#form-{{ key }}:replace" hx-disabled-elt="this"{% if not preview.startable or batch.refusal %} disabled{% endif %} title="Stages the file, compares it with the table, and changes nothing">Show what would change</button>{% endif %}
  <span class="working" role="status"><span class="spinner-border spinner-border-sm" aria-hidden="true"></span> Reading the file and planning …</span>
  <span class="start-message break" id="start-message-{{ key }}">
    {% if batch.refusal %}<strong>{{ batch.refusal }}</strong>{% endif %}
    {% for each in steps.missing %}<strong>{{ each|in_browser|truncatechars:120 }}</strong>{% endfor %}
    {% for each in steps.remarks %}<span class="start-remark{% if grid.none_fits %} text-danger{% endif %}">{{ each }}</span>{% endfor %}
    {% if preview.open_questions and not preview.problem %}
    <button type="submit" form="form-{{ key }}" class="btn btn-link btn-sm" hx-post="{% url 'new_source' key %}" hx-include="#form-{{ key }}" hx-target="#source-{{ key }}" hx-swap="outerHTML" name="answer" value="{{ preview.acceptance }}">Accept the first answers</button>
    {% elif source.arriving and preview.startable %}<span class="text-secondary">{% if preview.prepared.waits_for_whole_file %}The import begins when the whole file has arrived.{% else %}The import begins at once, with what has arrived.{% endif %} Keep this tab open until the upload ends.</span>
    {% elif not steps.missing and not steps.remarks %}<span class="text-secondary start-idle">Nothing has been written yet.</span>{% endif %}
  </span>
  {% if preview.startable and not source.arriving %}
  <span class="start-more">{% include "new_import/presets/_save.html" %}</span>
  {% endif %}
</div>
