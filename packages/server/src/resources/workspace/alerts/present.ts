import { encodeId, type Alert } from '@postroad/contract'
import { alertText } from '../../../domain/workspace/alerts/alert-text.ts'
import { subjectId } from '../../../domain/workspace/alerts/subject-id.ts'
import type { AlertRow } from './queries.ts'

/** Row → public shape. */
export function presentAlert(row: AlertRow): Alert {
  const subject = { kind: row.subject_kind, name: row.subject_name }
  return {
    id: encodeId('alert', row.id),
    type: row.type,
    state: row.resolved_at === null ? 'open' : 'resolved',
    severity: row.severity,
    subject: { ...subject, id: subjectId(row.subject_kind, row.subject_id) },
    customer_id: row.customer_id,
    value: row.value,
    peak: row.peak,
    text: alertText({ ...row, subject }),
    opened_at: row.opened_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    resolved_at: row.resolved_at?.toISOString() ?? null,
    muted: row.is_muted ? { until: row.muted_until?.toISOString() ?? null, by: row.muted_by ?? '' } : null,
    held: row.held,
  }
}
