import type { Step } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { listWholeWorkflows } from '../../automation/workflows/index.ts'
import { readAll } from '../../page.ts'
import type { PartRow } from './queries.ts'

function everyStep(steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step) =>
    step.type === 'branch'
      ? [step, ...everyStep([...step.branches.flatMap((branch) => branch.steps), ...(step.else ?? [])])]
      : [step],
  )
}

/** The datasets in which a workflow files records. */
const emittedBy = (steps: readonly Step[]): readonly string[] =>
  everyStep(steps).flatMap((step) => (step.type === 'emit_event' ? [step.dataset] : []))

/** The ids of the destinations to which it delivers. */
const deliveredBy = (steps: readonly Step[]): readonly string[] =>
  everyStep(steps).flatMap((step) => (step.type === 'deliver' ? [step.destination] : []))

type Ends = Pick<PartRow, 'id' | 'files' | 'delivers'>

/** Where the steps of each workflow lead, page by page, because all definitions together can be long. */
export async function readEnds(ctx: Ctx): Promise<ReadonlyMap<string, Ends>> {
  const ends = await readAll<Ends>(ctx.db, async (db, page) =>
    (await listWholeWorkflows(db, { ...ctx, ...page })).map(({ id, steps }) => ({
      id,
      files: emittedBy(steps),
      delivers: deliveredBy(steps),
    })),
  )
  return new Map(ends.map((one) => [one.id, one]))
}
