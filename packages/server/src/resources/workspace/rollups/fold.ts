import { addAt } from '../../../domain/workspace/latency-histogram.ts'

/** Turns the rows of one minute in the tables into the rows of its rollups. */

type InProject = { readonly workspace_id: string; readonly project_id: string }

export type AttemptsGroup = InProject & {
  readonly destination_id: string
  /** null: still in progress. */
  readonly outcome: 'succeeded' | 'failed' | 'interrupted' | null
  readonly gave_up: boolean
  /** It gave up the delivery of an alert. */
  readonly is_own: boolean
  readonly response_place: number | null
  readonly delivery_place: number | null
  readonly count: number
}
export type SubmissionsGroup = InProject & {
  readonly submissions: number
  readonly records: number
  readonly bytes: number
}
export type RejectionsGroup = InProject & { readonly reason: string; readonly count: number }

export type Attempts = {
  succeeded: number
  failed: number
  interrupted: number
  /** The failed attempts after which their delivery was given up. */
  gave_up: number
  open: number
  readonly response_ms: number[]
  readonly delivery_ms: number[]
}
export type DestinationRow = InProject & Attempts & { readonly destination_id: string; gave_up_own: number }
export type ProjectRow = InProject &
  Attempts & {
    submissions: number
    records: number
    bytes: number
    rejected: number
    rejected_by_reason: Record<string, number>
  }

export type Counted = {
  readonly attempts: readonly AttemptsGroup[]
  readonly submissions: readonly SubmissionsGroup[]
  readonly rejections: readonly RejectionsGroup[]
}

export function fold({ attempts, submissions, rejections }: Counted): {
  readonly projects: readonly ProjectRow[]
  readonly destinations: readonly DestinationRow[]
} {
  const projects = new Map<string, ProjectRow>()
  const destinations = new Map<string, DestinationRow>()
  const projectOf = ({ workspace_id, project_id }: InProject): ProjectRow =>
    known(projects, project_id, () => ({
      workspace_id,
      project_id,
      submissions: 0,
      records: 0,
      bytes: 0,
      rejected: 0,
      rejected_by_reason: {},
      ...noAttempts(),
    }))
  for (const group of attempts) {
    const { workspace_id, project_id, destination_id } = group
    const destination = known(destinations, destination_id, () => ({
      workspace_id,
      project_id,
      destination_id,
      gave_up_own: 0,
      ...noAttempts(),
    }))
    add(destination, group)
    if (group.is_own) destination.gave_up_own += group.count
    add(projectOf(group), group)
  }
  for (const group of submissions) {
    const project = projectOf(group)
    project.submissions += group.submissions
    project.records += group.records
    project.bytes += group.bytes
  }
  for (const group of rejections) {
    const project = projectOf(group)
    project.rejected += group.count
    project.rejected_by_reason[group.reason] = (project.rejected_by_reason[group.reason] ?? 0) + group.count
  }
  return { projects: [...projects.values()], destinations: [...destinations.values()] }
}

const noAttempts = (): Attempts => ({
  succeeded: 0,
  failed: 0,
  interrupted: 0,
  gave_up: 0,
  open: 0,
  response_ms: [],
  delivery_ms: [],
})

function add(to: Attempts, { outcome, gave_up, response_place, delivery_place, count }: AttemptsGroup): void {
  to[outcome ?? 'open'] += count
  if (gave_up) to.gave_up += count
  if (response_place !== null) addAt(to.response_ms, response_place, count)
  if (delivery_place !== null) addAt(to.delivery_ms, delivery_place, count)
}

function known<Row>(rows: Map<string, Row>, id: string, make: () => Row): Row {
  const row = rows.get(id) ?? make()
  rows.set(id, row)
  return row
}
