import type { Ctx } from '../../../context.ts'
import { missingSecrets } from '../../delivery/destinations/index.ts'
import {
  shownAlertRule,
  shownQuietHours,
  shownDestination,
  shownEndpoint,
  shownRecordView,
  shownRule,
  shownTransform,
  shownTrigger,
  shownWorkflow,
} from './entries.ts'
import { readState, type State } from './state.ts'

/** The configuration of a project as text: 2-space JSON, every list in a stable order, piece by piece. */
export async function exportConfig(ctx: Ctx): Promise<AsyncIterable<string>> {
  // Every failure happens before the file starts.
  return textOf(ctx, await readState(ctx))
}

async function* textOf(ctx: Ctx, state: State): AsyncGenerator<string> {
  yield `{\n  "version": 1,\n  "project": ${JSON.stringify(state.slug)}`
  yield* listOf('endpoints', state.endpoints, ({ entry, hasVerifyToken }) =>
    shownEndpoint(entry, { verifyToken: hasVerifyToken }),
  )
  yield* listOf('rules', state.rules, ({ entry }) => shownRule(entry))
  yield* listOf('record_views', state.record_views, ({ entry }) => shownRecordView(entry))
  yield* listOf('transforms', state.transforms, ({ entry }) => shownTransform(entry))
  yield* listOf('destinations', state.destinations, ({ entry, row }) => {
    const needed = missingSecrets(ctx, { row: undefined, wanted: { ...entry, url: row.url } })
    return shownDestination(entry, needed)
  })
  yield* listOf('workflows', state.workflows, ({ entry }) => shownWorkflow(entry))
  yield* listOf('triggers', state.triggers, ({ entry }) => shownTrigger(entry))
  yield* listOf('alert_rules', state.alert_rules, ({ entry }) => shownAlertRule(entry))
  yield* listOf('quiet_hours', state.quiet_hours, ({ entry }) => shownQuietHours(entry))
  yield* listOf('not_exported', state.not_exported, (one) => one)
  yield '\n}\n'
}

async function* listOf<Item>(
  name: string,
  items: readonly Item[],
  shown: (item: Item) => object,
): AsyncGenerator<string> {
  yield `,\n  ${JSON.stringify(name)}: [`
  for (const [index, item] of items.entries()) {
    const text = JSON.stringify(shown(item), null, 2).replaceAll('\n', '\n    ')
    yield `${index === 0 ? '' : ','}\n    ${text}`
  }
  yield items.length === 0 ? ']' : '\n  ]'
}
