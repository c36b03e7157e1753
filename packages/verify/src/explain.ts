import { hintsFor } from './hints.ts'
import {
  ageText,
  isMadeWith,
  isRight,
  judge,
  placeIn,
  placeText,
  SIGNATURE_STEPS,
  type Reading,
  type SignatureFailure,
  type SignatureStep,
} from './reading.ts'
import { NO_SECRET, readSignature, type HeldSecret, type SampleToExplain } from './schemes.ts'

export type ExplainedStep = {
  readonly step: SignatureStep
  /** null: not checked, because an earlier step failed. */
  readonly ok: boolean | null
  readonly text: string
}

export type SignatureExplanation = {
  readonly ok: boolean
  readonly reason: SignatureFailure['reason'] | null
  readonly failed_step: SignatureStep | null
  readonly matched_secret: HeldSecret['name'] | null
  readonly age_seconds: number | null
  readonly steps: readonly ExplainedStep[]
  readonly hints: readonly string[]
}

/**
 * Explains what `verifySignature` does with a request, step by step in one sentence each, with hints for a person. It agrees
 * with the check itself, and no sentence contains an expected digest or a secret.
 */
export function explainSignature(sample: SampleToExplain): SignatureExplanation {
  const first = readSignature(sample.settings, sample.headers, sample)
  const secrets = sample.secrets.filter((secret) => secret.ended !== true)
  const { reading, failure } =
    secrets.length === 0
      ? { reading: first, failure: NO_SECRET }
      : judge(first, { ...sample, secrets: secrets.map(({ value }) => value) })
  const matched = isRight(failure) ? secrets.find(({ value }) => isMadeWith(value, { ...sample, reading })) : undefined
  const age = ageOf(reading, sample.nowSeconds)
  return {
    ok: failure === undefined,
    ...(failure === undefined
      ? { reason: null, failed_step: null }
      : { reason: failure.reason, failed_step: failure.step }),
    matched_secret: matched?.name ?? null,
    age_seconds: age,
    steps: stepsOf(failure, { reading, matched, age: age ?? 0, secrets }),
    hints: failure === undefined ? [] : hintsFor(failure, { sample, reading }),
  }
}

function ageOf({ time }: Reading, nowSeconds: number): number | null {
  return time?.timestamp === undefined ? null : nowSeconds - time.timestamp
}

type Seen = {
  readonly reading: Reading
  readonly matched: HeldSecret | undefined
  readonly age: number
  readonly secrets: readonly HeldSecret[]
}

function stepsOf(failure: SignatureFailure | undefined, seen: Seen): readonly ExplainedStep[] {
  const steps = SIGNATURE_STEPS.filter(
    (step) => seen.reading.time !== undefined || (step !== 'timestamp' && step !== 'tolerance'),
  )
  const failed = failure === undefined ? steps.length : steps.indexOf(failure.step)
  return steps.map((step, at) => {
    if (at > failed) return { step, ok: null, text: 'Not checked, because an earlier step failed.' }
    if (at < failed || failure === undefined) return { step, ok: true, text: passedText(step, seen) }
    return { step, ok: false, text: failure.detail }
  })
}

function passedText(step: SignatureStep, { reading, matched, age, secrets }: Seen): string {
  const time = reading.time ?? NO_TIME
  switch (step) {
    case 'secret':
      return secrets.length > 1 ? 'This endpoint has a current and a previous secret.' : 'This endpoint has a secret.'
    case 'header':
      return `The ${placeText(reading)} is there.`
    case 'format':
      return `It has the form ${reading.form}.`
    case 'timestamp':
      return `The timestamp in ${placeIn(time)} is ${time.timestamp}, in Unix seconds.`
    case 'digest':
      return matchText(reading, matched)
    case 'tolerance':
      return `It is ${time.until === undefined ? ageText(age) : 'valid now'}, and ${time.tolerance} s is allowed.`
  }
}

function matchText({ recipe: { passed, thing } }: Reading, matched: HeldSecret | undefined): string {
  if (passed !== undefined) return passed
  if (thing !== undefined) return `The ${thing} is the ${matched?.name} secret.`
  return `The signature is the one that the ${matched?.name} secret makes for this body.`
}

const NO_TIME: NonNullable<Reading['time']> = { header: '', timestamp: 0, tolerance: 0 }
