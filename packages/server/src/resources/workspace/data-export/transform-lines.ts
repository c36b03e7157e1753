import { decodeId, encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { transforms } from '../../delivery/transforms/index.ts'
import { each } from './each.ts'

/** The code of every retained version of the transforms that exist, newest version first. */
export async function* transformVersionLines(ctx: Ctx): AsyncGenerator<readonly string[]> {
  for await (const { id } of each(
    (page) => transforms.list(ctx, page),
    (answer) => answer.transforms,
  )) {
    const at = { id: decodeId('transform', id) ?? '' }
    for await (const { version } of each(
      (page) => transforms.listVersions(ctx, { ...page, ...at }),
      (answer) => answer.versions,
    )) {
      // oxlint-disable-next-line no-await-in-loop -- one version after another
      const shown = await transforms.getVersion(ctx, { ...at, version })
      yield [JSON.stringify({ transform_id: id, ...shown.version, project_id: encodeId('project', ctx.projectId) })]
    }
  }
}
