import { isSnapshot, type Snapshot } from './snapshot.ts'

/**
 * The position of a stream's reader (docs/adr/0008): it has everything that `from` sees and, of the rows that only `to` sees,
 * those up to id `after`. Without `partway` it has exactly the rows that `from` sees.
 */
export type Position = {
  /**
   * The history that these snapshots belong to: the database, and its last crash. Snapshots of another history mean nothing
   * here.
   */
  readonly history: string
  readonly from: Snapshot
  /** No row beyond `from` has an id before this time (milliseconds). */
  readonly floor: number
  readonly partway?: { readonly to: Snapshot; readonly floor: number; readonly after: string }
}

const MOMENT = (name: string): string => `(?<${name}>[0-9a-z-]+)~(?<${name}Floor>[0-9a-z]{1,11})`
const CURSOR = new RegExp(
  `^(?<history>\\d{1,20}-\\d{1,20})~${MOMENT('from')}(?:~${MOMENT('to')}~(?<after>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$`,
)
const CURSOR_CHARS_MAX = 16_384
/** The latest time that an id can have, in milliseconds. */
const FLOOR_MAX = 0xff_ff_ff_ff_ff_ff

/** A cursor: opaque to clients, and safe in a header and in a URL. */
export function encodePosition(position: Position): string {
  const { partway } = position
  return partway === undefined
    ? settled(position)
    : partwayPrefix({ ...position, ...partway, toFloor: partway.floor, floor: position.floor }) + partway.after
}

/** The cursors within one read differ only in their last id. This is the text before it. */
export function partwayPrefix(
  read: Pick<Position, 'history' | 'from' | 'floor'> & { to: Snapshot; toFloor: number },
): string {
  return `${settled(read)}~${snapshotText(read.to)}~${numberText(read.toFloor)}~`
}

function settled({ history, from, floor }: Pick<Position, 'history' | 'from' | 'floor'>): string {
  return `${history}~${snapshotText(from)}~${numberText(floor)}`
}

/** undefined when the text is not a cursor of ours. */
export function decodePosition(cursor: string): Position | undefined {
  const parts = cursor.length > CURSOR_CHARS_MAX ? undefined : CURSOR.exec(cursor)?.groups
  if (parts === undefined) return undefined
  const { history, after } = parts
  const begun = readMoment(parts['from'], parts['fromFloor'])
  if (history === undefined || begun === undefined) return undefined
  const position = { history, from: begun.snapshot, floor: begun.floor }
  if (after === undefined) return position
  const aim = readMoment(parts['to'], parts['toFloor'])
  return aim && { ...position, partway: { to: aim.snapshot, floor: aim.floor, after } }
}

function readMoment(snapshotPart = '', floorPart = ''): { snapshot: Snapshot; floor: number } | undefined {
  const snapshot = readSnapshotText(snapshotPart)
  const floor = readNumber(floorPart)
  return snapshot === undefined || !(floor <= FLOOR_MAX) ? undefined : { snapshot, floor }
}

const numberText = (value: number): string => Math.floor(value).toString(36)
const readNumber = (text: string): number => (/^[0-9a-z]{1,11}$/.test(text) ? Number.parseInt(text, 36) : Number.NaN)

function snapshotText({ xmin, xmax, running }: Snapshot): string {
  return [xmin, xmax, ...running].map(numberText).join('-')
}

function readSnapshotText(text: string): Snapshot | undefined {
  const [xmin = Number.NaN, xmax = Number.NaN, ...running] = text.split('-').map(readNumber)
  const snapshot = { xmin, xmax, running }
  return isSnapshot(snapshot) ? snapshot : undefined
}
