import { z } from 'zod'
import { DotPath, PlainPath } from './condition.ts'
import { LIST_STEP, splitPath } from './dot-path.ts'
import { LIMITS } from './limits.ts'

export const TRANSFORMS = [
  'string',
  'number',
  'boolean',
  'lowercase',
  'uppercase',
  'trim',
  'iso_date',
  'json',
  'base64',
] as const
export type Transform = (typeof TRANSFORMS)[number]

/** One field of a record: its target, and either its path in the payload or its constant. */
export const Mapping = z
  .strictObject(
    {
      target: PlainPath.describe('Dot path in the record; a step that is a number is a list index.'),
      path: DotPath.optional().describe('Dot path in the payload, or `$request.…`. Send either path or value.'),
      value: z.unknown().optional().describe('A constant. Send either path or value.'),
      default: z
        .unknown()
        .optional()
        .describe('The value when nothing is there or the transform does not fit. Absent: no field.'),
      transform: z.enum(TRANSFORMS, `The transform is one of ${TRANSFORMS.join(', ')}.`).optional(),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `A mapping has no property "${issue.keys.join('", "')}"; it has target, path, value, default and transform.`
          : 'A mapping is an object with a target and a path or a value.',
    },
  )
  .superRefine((mapping, ctx) => {
    const problem = problemOf(mapping)
    if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem })
  })
export type Mapping = z.infer<typeof Mapping>

/** A list of mappings. An empty list files the whole payload as it is. */
export const Mappings = z
  .array(Mapping, 'Mappings are a list.')
  .max(LIMITS.mappingsPerListMax, `A list has at most ${LIMITS.mappingsPerListMax} mappings.`)
  .superRefine((mappings, ctx) => {
    const problem = overlapOf(mappings.map((mapping) => mapping.target))
    if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem })
  })
export type Mappings = z.infer<typeof Mappings>

function problemOf(mapping: z.infer<typeof Mapping>): string | undefined {
  if ('path' in mapping === 'value' in mapping) return 'A mapping takes exactly one of a path and a constant value.'
  if ('value' in mapping && ('default' in mapping || mapping.transform !== undefined)) {
    return 'A constant value takes no default and no transform; remove them.'
  }
  const steps = splitPath(mapping.target)
  const levels = LIMITS.jsonDepthMax - steps.length
  if ([mapping.value, mapping.default].some((data) => nestsBeyond(data, levels))) {
    return `A record nests at most ${LIMITS.jsonDepthMax} levels deep; below this target ${levels} are left for the value or default. Flatten it.`
  }
  const places = steps.slice(1).filter((step) => LIST_STEP.test(step))
  if (places.every((place) => Number(place) < LIMITS.mappingsPerListMax)) return undefined
  return `A list index is a number from 0 to ${LIMITS.mappingsPerListMax - 1}.`
}

/** A number that is stored with its source text is an object without a prototype. It adds no level. */
function nestsBeyond(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) === null) return false
  return levels === 0 || Object.values(value).some((member) => nestsBeyond(member, levels - 1))
}

type Node = Map<string, Node>

/** Finds two targets that would overwrite each other, or a list that is also an object, where order would decide. */
function overlapOf(targets: readonly string[]): string | undefined {
  const root: Node = new Map()
  for (const target of targets) {
    if (!plant(root, splitPath(target))) {
      return `The target "${target}" collides with another; each target needs a separate place.`
    }
  }
  return undefined
}

function plant(root: Node, steps: readonly string[]): boolean {
  let node = root
  for (const [at, step] of steps.entries()) {
    const found = node.get(step)
    const last = at === steps.length - 1
    if (found !== undefined && (last || found.size === 0)) return false
    if (found === undefined && at > 0 && mixes(node, step)) return false
    const next: Node = found ?? new Map()
    node.set(step, next)
    node = next
  }
  return true
}

/** Whether this step and its siblings mix list indexes and names. */
function mixes(node: Node, step: string): boolean {
  const [sibling] = node.keys()
  return sibling !== undefined && LIST_STEP.test(sibling) !== LIST_STEP.test(step)
}
