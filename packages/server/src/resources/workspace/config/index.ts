import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../audit/index.ts'
import { lockProject } from '../projects/index.ts'
import { applyPlan, checkEntries } from './apply.ts'
import { exportConfig } from './export.ts'
import { planOf, STEP_LISTS, type Item, type Plan } from './plan.ts'
import { readConfig, type ReadConfig } from './read-config.ts'
import { compareRouting } from './routing.ts'
import { fingerprintOf, hashOf, readState, type State } from './state.ts'

type Asked = { readonly config: ReadConfig; readonly deleteMissing: boolean }

export const config: Room<'config'> = {
  export: (ctx) => exportConfig(ctx),

  /** Only reads, and changes nothing. */
  plan: async (ctx, { config: sent, delete_missing: deleteMissing, recent }) => {
    const asked = { config: await readConfig(ctx, sent), deleteMissing }
    const state = await readState(ctx)
    const plan = planOf(ctx, { ...asked, state })
    await checkEntries(ctx, plan)
    const items = itemsOf(plan)
    const changes = items.create.length + items.change.length + items.delete.length
    const compares = changes > 0 && recent > 0
    return {
      plan: {
        id: idOf(asked, state),
        empty: changes === 0 && plan.needs_secrets.every(({ waiting }) => waiting.length === 0),
        ...items,
        change: STEP_LISTS.flatMap((list) =>
          plan[list].change.map(({ kind, identity, changes: members }) => ({ kind, identity, changes: members })),
        ),
        unchanged: STEP_LISTS.flatMap((list) => plan[list].unchanged.map(itemOf)),
        not_in_config: STEP_LISTS.flatMap((list) => plan[list].rest.map(itemOf)),
        not_exported: [...state.not_exported],
        ...neededBy(plan),
        routing: compares ? await compareRouting(ctx, { state, plan, recent }) : null,
      },
    }
  },

  apply: async (ctx, { config: sent, delete_missing: deleteMissing, plan: agreed }) => {
    const asked = { config: await readConfig(ctx, sent), deleteMissing }
    const before = await readState(ctx)
    checkAgreed(agreed, asked, before)
    await checkEntries(ctx, planOf(ctx, { ...asked, state: before }))
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      const state = await readState(tx)
      // The checked configuration is the applied one, even if the request named no plan.
      if (fingerprintOf(state) !== fingerprintOf(before)) throw refuse('project_changed')
      const plan = planOf(tx, { ...asked, state })
      await applyPlan(tx, plan)
      const items = itemsOf(plan)
      await audit(tx, {
        action: 'apply_config',
        target: encodeId('project', tx.projectId),
        details: { created: items.create.length, changed: items.change.length, deleted: items.delete.length },
      })
      return { applied: { ...items, ...neededBy(plan) } }
    })
  },
}

const itemOf = ({ kind, identity }: Item): Item => ({ kind, identity })

function itemsOf(plan: Plan) {
  const all = (step: 'create' | 'change' | 'delete'): Item[] =>
    STEP_LISTS.flatMap((list) => plan[list][step].map(itemOf))
  return { create: all('create'), change: all('change'), delete: all('delete') }
}

const neededBy = ({ needs_verification_secret, needs_secrets }: Plan) => ({
  needs_verification_secret: [...needs_verification_secret],
  needs_secrets: [...needs_secrets],
})

/** The id covers the present project and the requested configuration, because a confirmation applies to both. */
function idOf(asked: Asked, state: State): string {
  return `${fingerprintOf(state)}.${askedHash(asked)}`
}

function askedHash({
  config: { endpoints, rules, record_views, transforms, destinations, workflows, triggers, alert_rules, quiet_hours },
  deleteMissing,
}: Asked): string {
  return hashOf([
    deleteMissing,
    ...[
      endpoints,
      rules,
      record_views,
      transforms,
      destinations,
      workflows,
      triggers,
      alert_rules,
      quiet_hours,
    ].flatMap((list) => [list === undefined, ...(list ?? [])]),
  ])
}

function checkAgreed(agreed: string | undefined, asked: Asked, state: State): void {
  if (agreed === undefined) return
  const [project, configuration] = agreed.split('.')
  if (configuration !== askedHash(asked))
    throw refuse(
      'invalid_request',
      'plan belongs to another configuration, or to another delete_missing. Plan this one, and send its id.',
    )
  if (project !== fingerprintOf(state)) throw refuse('project_changed')
}
