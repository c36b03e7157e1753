import { refuse } from '../../../domain/refusal.ts'
import type { WebhookRow } from './queries.ts'

/** XML is one document: its lines are not items. */
export function checkReading({ body_as, split }: Pick<WebhookRow, 'body_as' | 'split'>): void {
  if (body_as === 'xml' && split === 'lines')
    throw refuse(
      'invalid_request',
      'split: "lines" is for bodies of lines. With body_as xml, name the list, such as {"path": "feed.entry"}.',
    )
}
