import type { Step } from '@postroad/contract'

function everyStep(steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step) =>
    step.type === 'branch'
      ? [step, ...everyStep([...step.branches.flatMap((branch) => branch.steps), ...(step.else ?? [])])]
      : [step],
  )
}
/** The datasets in which a workflow files records. */
export const emittedBy = (steps: readonly Step[]): readonly string[] =>
  everyStep(steps).flatMap((step) => (step.type === 'emit_event' ? [step.dataset] : []))
/** The ids of the destinations to which it delivers. */
export const deliveredBy = (steps: readonly Step[]): readonly string[] =>
  everyStep(steps).flatMap((step) => (step.type === 'deliver' ? [step.destination] : []))
