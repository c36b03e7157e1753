import { alertFacts, encodeId, type AlertChange } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { alertText } from '../../domain/workspace/alerts/alert-text.ts'
import { subjectId } from '../../domain/workspace/alerts/subject-id.ts'
import type { SettledAlert } from '../../resources/workspace/alerts/queries.ts'

type Telling = SettledAlert & {
  readonly change: AlertChange
  readonly openedAt: Date
  readonly at: Date
  /** The slugs of the workspace and the project. */
  readonly place: string
}

/**
 * The payload of the event of an alert, as JSON. `action` and `severity` are the words of paging services, so that a template needs no
 * conditions. Customers get the same event about their destinations, so then it says nothing of the project.
 */
export function alertPayload({ baseUrl }: Pick<Deps, 'baseUrl'>, of: Telling): string {
  const { resolved, unit } = alertFacts(of.type)
  const isResolved = of.change === 'resolved'
  const id = encodeId('alert', of.id)
  const text = alertText({ ...of, subject: { kind: of.subject_kind, name: of.subject_name } })
  return JSON.stringify({
    type: isResolved ? resolved : of.type,
    title: `${isResolved ? 'Resolved' : TITLES[of.severity]}: ${of.subject_name} (${of.type})`,
    text: isResolved ? `This has ended: ${text}` : text,
    action: isResolved ? 'resolve' : 'trigger',
    severity: of.severity,
    alert: {
      id,
      type: of.type,
      change: of.change,
      state: isResolved ? 'resolved' : 'open',
      value: of.value,
      peak: of.peak,
      unit,
      opened_at: of.openedAt.toISOString(),
      resolved_at: isResolved ? of.at.toISOString() : null,
    },
    subject: { kind: of.subject_kind, id: subjectId(of.subject_kind, of.subject_id), name: of.subject_name },
    detail: of.detail,
    link: of.customer_id === null ? `${baseUrl()}/${of.place}/alerts?sel=${id}` : null,
  })
}

const TITLES = { warning: 'Warning', critical: 'Critical' } as const
