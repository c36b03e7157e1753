import { decodeId, encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { workflowInstances } from '../../automation/workflow-instances/index.ts'
import { workflows } from '../../automation/workflows/index.ts'
import { each } from './each.ts'

/** The definitions of workflows that exist, newest version first. */
export async function* workflowVersionLines(ctx: Ctx): AsyncGenerator<readonly string[]> {
  for await (const { id } of each(
    (page) => workflows.list(ctx, page),
    (answer) => answer.workflows,
  )) {
    const at = { id: decodeId('workflow', id) ?? '' }
    for await (const { version } of each(
      (page) => workflows.listVersions(ctx, { ...page, ...at }),
      (answer) => answer.versions,
    )) {
      // oxlint-disable-next-line no-await-in-loop -- one version after another
      const shown = await workflows.getVersion(ctx, { ...at, version })
      yield [JSON.stringify({ workflow_id: id, ...shown.version, project_id: encodeId('project', ctx.projectId) })]
    }
  }
}

/** Instances from before the export, each with its steps. */
export async function* instanceLines(
  ctx: Ctx,
  { before }: { readonly before: Date },
): AsyncGenerator<readonly string[]> {
  const none = { workflow_id: undefined, record_id: undefined, state: undefined }
  const all = each(
    (page) => workflowInstances.list(ctx, { ...page, ...none }),
    (answer) => answer.instances,
  )
  for await (const { id, created_at } of all) {
    if (created_at >= before.toISOString()) continue
    // oxlint-disable-next-line no-await-in-loop -- one instance after another
    const { instance } = await workflowInstances.get(ctx, { id: decodeId('workflowInstance', id) ?? '' })
    yield [JSON.stringify({ ...instance, project_id: encodeId('project', ctx.projectId) })]
  }
}
