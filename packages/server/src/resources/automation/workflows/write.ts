import { encodeId, LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { slugFrom } from '../../../domain/slug.ts'
import { inTransaction } from '../../../transaction.ts'
import { insertUnderFreeSlug } from '../../free-slug.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { checkWorkflow } from './check.ts'
import {
  countWorkflows,
  findWorkflow,
  findWorkflowVersion,
  insertWorkflow,
  insertWorkflowVersion,
  replaceWorkflow,
  type StoredDefinition,
  type WorkflowRow,
} from './queries.ts'

type Definition = RouteInput<Routes['workflows']['create']>

/** Creates a workflow with version 1. */
export function createWorkflow(ctx: Ctx, input: Definition): Promise<WorkflowRow> {
  return inTransaction(ctx, async (tx) => {
    await checkWorkflow(tx, input)
    // It also locks the project, so the count below is exact.
    await configChanged(tx)
    if ((await countWorkflows(tx.db, tx)) >= LIMITS.workflowsPerProjectMax) throw refuse('workflow_limit_reached')
    const id = tx.uuid()
    const now = new Date(tx.clock.now())
    const row = await insertUnderFreeSlug(tx, {
      slug: input.slug,
      name: input.name,
      fallback: 'workflow',
      insert: (slug) => insertWorkflow(tx.db, { ...tx, ...input, id, slug, now }),
    })
    await insertWorkflowVersion(tx.db, { ...tx, id, version: row.version, definition: definitionOf(input), now })
    await audit(tx, {
      action: 'create_workflow',
      target: encodeId('workflow', id),
      details: auditDetails(row),
      change: { before: null, after: { ...row, steps: input.steps } },
    })
    return row
  })
}

/** Replaces the whole definition (contract part 4). Instances retain their version. */
export function replaceDefinition(
  ctx: Ctx,
  { id, ...input }: Definition & { readonly id: string },
): Promise<WorkflowRow> {
  return inTransaction(ctx, async (tx) => {
    // It also locks the project, so that no other request replaces the definition meanwhile.
    await configChanged(tx)
    const held = await findWorkflow(tx.db, { ...tx, id })
    if (held === undefined) throw refuse('not_found')
    await checkWorkflow(tx, input)
    const replaced = await findWorkflowVersion(tx.db, { ...tx, id, version: held.version })
    const now = new Date(tx.clock.now())
    const slug = input.slug ?? ownSlug(held, input.name)
    const row = await insertUnderFreeSlug(tx, {
      slug,
      name: input.name,
      fallback: 'workflow',
      insert: (free) => replaceWorkflow(tx.db, { ...tx, ...input, id, slug: free, now }),
    })
    await insertWorkflowVersion(tx.db, { ...tx, id, version: row.version, definition: definitionOf(input), now })
    await audit(tx, {
      action: 'update_workflow',
      target: encodeId('workflow', id),
      details: auditDetails(row),
      change: { before: { ...held, steps: replaced?.definition.steps }, after: { ...row, steps: input.steps } },
    })
    return row
  })
}

/** The slug of a workflow if it was made from this name; undefined: it was not, so a new one is made. */
function ownSlug({ slug }: WorkflowRow, name: string): string | undefined {
  const made = slugFrom(name, 'workflow')
  return slug === made || slug.startsWith(`${made}-`) ? slug : undefined
}

const definitionOf = ({ name, entry_dataset, entry_conditions, steps }: Definition): StoredDefinition => ({
  name,
  entry_dataset,
  entry_conditions,
  steps,
})

const auditDetails = ({ name, version, active, entry_dataset }: WorkflowRow) => ({
  name,
  version,
  active,
  entry_dataset,
})
