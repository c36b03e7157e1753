import type { RouteAnswer, Routes } from '@postroad/contract'
import { io } from './io.ts'
import { invokedAs } from './options.ts'
import { cut, plain } from './text/plain.ts'
import { style } from './text/style.ts'
import { moment } from './text/time.ts'

type Plan = RouteAnswer<Routes['config']['plan']>['plan']
type Applied = RouteAnswer<Routes['config']['apply']>['applied']
type Item = Plan['create'][number]
type Difference = NonNullable<Plan['routing']>['payloads'][number]

/** A plan as text: the lines of each change, then the counts, the secrets and the routing. */
export function planText(plan: Plan, file: string): string {
  return fitted([
    ...plan.create.map((item) => [style.good, `+ ${itemText(item)}`] as const),
    ...plan.change.flatMap((item) => [
      [style.waits, `~ ${itemText(item)}`] as const,
      ...item.changes.flatMap(({ member, from, to }) => [`    ${member}`, ...diffLines(from, to)]),
    ]),
    ...plan.delete.map((item) => [style.bad, `- ${itemText(item)}`] as const),
    ...(plan.create.length + plan.change.length + plan.delete.length === 0 ? [] : ['']),
    countsText(plan, file),
    ...listText('Not in the file, not deleted unless you add --delete:', plan.not_in_config.map(itemText)),
    ...listText(
      'Never part of a file:',
      plan.not_exported.map(({ kind, name }) => `${kind.replace('_', ' ')}  ${plain(name)}`),
    ),
    ...neededText(plan),
    ...routingText(plan.routing),
  ])
}

export function appliedText(applied: Applied): string {
  const { create, change, delete: gone } = applied
  return fitted([
    `Applied: ${create.length} created, ${change.length} changed, ${gone.length} deleted.`,
    ...neededText(applied),
  ])
}

const itemText = ({ kind, identity }: Item): string => `${kind.replace('_', ' ')}  ${plain(identity)}`

function countsText({ create, change, delete: gone, unchanged, empty }: Plan, file: string): string {
  if (empty) return `Nothing to do. The project matches ${plain(file)}.`
  return `${create.length} to create, ${change.length} to change, ${gone.length} to delete, ${unchanged.length} unchanged`
}

function listText(head: string, lines: readonly string[]): readonly Line[] {
  return lines.length === 0 ? [] : ['', head, ...lines.map((line) => `  ${line}`)]
}

function neededText({
  needs_verification_secret: slugs,
  needs_secrets: others,
}: Pick<Plan, 'needs_verification_secret' | 'needs_secrets'>): readonly Line[] {
  return [
    ...listText(
      'Return 401 until you set their verification secret:',
      slugs.map((slug) => `${invokedAs()} endpoints rotate-secret ${slug} --secret-stdin`),
    ),
    ...listText(
      'Need secrets that nobody has set here:',
      others.map((item) => {
        const waits = item.waiting.length === 0 ? '' : `; waits for them: ${item.waiting.join(', ')}`
        return `${itemText(item)}: ${item.needs.map(plain).join(', ')}${waits}`
      }),
    ),
  ]
}

function routingText(routing: Plan['routing']): readonly Line[] {
  if (routing === null) return []
  const { compared, different, not_looked_at: left, payloads } = routing
  const head =
    compared === 0
      ? 'There are no stored events to compare.'
      : `Of the newest ${compared} events, ${different} would be routed differently.`
  return [
    '',
    head,
    ...(left === undefined
      ? []
      : [`${left} older events were skipped because the comparison took too long. Request fewer with --recent.`]),
    ...payloads.flatMap(differenceLines),
    ...(different > payloads.length ? [[style.dim, `  … and ${different - payloads.length} more`] as const] : []),
  ]
}

const filed = ({ dataset, by }: { dataset: string; by: string | null }): string =>
  `record in ${dataset}${by === null ? '' : ` by ${plain(by)}`}`
const sent = ({ destination, paused }: { destination: string; paused: boolean }): string =>
  `delivery to ${plain(destination)}${paused ? ' (paused)' : ''}`
const started = ({ kind, name, dataset }: { kind: 'workflow' | 'trigger'; name: string; dataset: string }): string =>
  `${kind === 'workflow' ? 'workflow' : 'AI trigger'} ${plain(name)} on the record in ${dataset}`

function differenceLines(of: Difference): readonly Line[] {
  const { submission_id, received_at, refused_before, refused_after, records, deliveries, starts, more } = of
  return [
    `  ${submission_id}  ${moment(received_at)}`,
    ...(refused_before === null ? [] : [`    - refused: ${refused_before}`]),
    ...(refused_after === null ? [] : [`    + refused: ${refused_after}`]),
    ...records.removed.map((one) => `    - ${filed(one)}`),
    ...records.added.map((one) => `    + ${filed(one)}`),
    ...records.changed.map((one) => `    ~ ${filed(one)}`),
    ...deliveries.removed.map((one) => `    - ${sent(one)}`),
    ...deliveries.added.map((one) => `    + ${sent(one)}`),
    ...deliveries.changed.map((one) => `    ~ ${sent(one)}`),
    ...starts.removed.map((one) => `    - ${started(one)}`),
    ...starts.added.map((one) => `    + ${started(one)}`),
    ...starts.changed.map((one) => `    ~ ${started(one)}`),
    ...(more === 0 ? [] : [[style.dim, `    … and ${more} more`] as const]),
  ]
}

/** Lines of both values that the other one does not have, in their order. */
function diffLines(from: unknown, to: unknown): readonly Line[] {
  const [before, after] = [linesOf(from), linesOf(to)]
  let start = 0
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start += 1
  let end = 0
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return [
    ...before.slice(start, before.length - end).map((line) => [style.bad, `      - ${plain(line)}`] as const),
    ...after.slice(start, after.length - end).map((line) => [style.good, `      + ${plain(line)}`] as const),
  ]
}

const linesOf = (value: unknown): readonly string[] => (JSON.stringify(value, null, 2) ?? 'null').split('\n')

/** A line, and its color. */
type Line = string | readonly [paint: (text: string) => string, text: string]

/** Cuts lines to the width of the terminal; piped output is not cut. */
function fitted(lines: readonly Line[]): string {
  const { columns = 0 } = io().stdout
  const fit = (text: string): string => (columns > 0 ? cut(text, columns) : text)
  return lines.map((line) => (typeof line === 'string' ? fit(line) : line[0](fit(line[1])))).join('\n')
}
