/**
 * The requests of the workflow machine to the outside world, and the answers. Times are milliseconds of the one clock of the
 * installation.
 */
import type { Held, Instance } from './instance.ts'
import type { InstanceRun } from './instance-run.ts'

/**
 * `refused`: certainly not committed. `invalid`: also not committed, and the same rows would be refused again.
 * `unknown`: perhaps committed, perhaps later.
 */
export type Answer<Value> =
  | { readonly outcome: 'done'; readonly value: Value }
  | { readonly outcome: 'refused' | 'invalid' | 'unknown' }

/** `shared`: each workspace gets an equal part of the limit, so that none waits behind all instances of another. */
export type ClaimInput = { readonly limit: number; readonly lease_ms: number; readonly shared: boolean }

/** `more`: further instances may be due. */
export type Claimed = { readonly instances: readonly Instance[]; readonly more: boolean }

export type Settled = {
  /** Instances that have another event to store: they continue immediately, still under their claim. */
  readonly more: readonly InstanceRun[]
  /** Claims that had been lost. Nothing of these instances was stored. */
  readonly lost: readonly string[]
}

export type Matched = {
  /** Waits that found their record. */
  readonly woken: number
  /** There are further records to compare. */
  readonly more: boolean
  /** An instance waits for a record, or may wait, because another process is reading. */
  readonly waits: boolean
}

export type Moved = { readonly more: boolean }

/** Each operation must get an answer in the end: if it hangs, `unknown`. */
export type StorePort = {
  /** Takes due instances. */
  claim(input: ClaimInput): Promise<Answer<Claimed>>
  /**
   * One transaction: the events that the runs emit, their deliveries and AI runs, their step runs, and their cursors and states.
   * A run whose claim was lost changes nothing.
   */
  settle(runs: readonly InstanceRun[]): Promise<Answer<Settled>>
  /** Gives claims back that did not settle. The instances are due again immediately. */
  release(held: readonly Held[]): Promise<Answer<null>>
  /** Compares the records that became visible with the waits. */
  match(): Promise<Answer<Matched>>
  /** Pauses and resumes instances of workspaces that were suspended or reinstated. */
  move(): Promise<Answer<Moved>>
}

export type Effect =
  | { readonly type: 'claim'; readonly op: number; readonly input: ClaimInput }
  /** Runs instances to their next stop. This takes processor time and nothing else, so it needs no answer of a store. */
  | { readonly type: 'advance'; readonly op: number; readonly instances: readonly Instance[] }
  | { readonly type: 'settle'; readonly op: number; readonly runs: readonly InstanceRun[] }
  | { readonly type: 'release'; readonly op: number; readonly held: readonly Held[] }
  | { readonly type: 'match'; readonly op: number }
  | { readonly type: 'move'; readonly op: number }
  /** Nothing is under way. */
  | { readonly type: 'rested' }

export type Event =
  /** A second has passed, or the process has started. */
  | { readonly type: 'woke' }
  /** Instances started or were woken, or records were stored. Only a hint. */
  | { readonly type: 'hinted'; readonly about: 'instances' | 'records' | 'workspaces' }
  | { readonly type: 'claimed'; readonly op: number; readonly answer: Answer<Claimed> }
  | { readonly type: 'advanced'; readonly op: number; readonly runs: readonly InstanceRun[] }
  | { readonly type: 'settled'; readonly op: number; readonly answer: Answer<Settled> }
  | { readonly type: 'released'; readonly op: number; readonly answer: Answer<null> }
  | { readonly type: 'matched'; readonly op: number; readonly answer: Answer<Matched> }
  | { readonly type: 'moved'; readonly op: number; readonly answer: Answer<Moved> }
  | { readonly type: 'stop' }
