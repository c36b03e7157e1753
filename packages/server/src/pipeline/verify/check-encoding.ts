import { LIMITS } from '@postroad/contract'
import { codingOf, inflate, type Coding } from '../../platform/inflate.ts'
import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/** One known coding, or none. Several codings on top of each other are refused like unknown ones. */
export const checkEncoding: Check = (_deps, { captured: { headers } }) =>
  codingOf(headers['content-encoding']) === undefined ? reject('unsupported_encoding') : undefined

/**
 * Inflates a compressed body only after its signature was verified, so that only its sender can cause this work. `body`
 * stays as sent, because it is signed and stored; `content` is the inflated body.
 */
export const checkContent: Check = (deps, passage) => {
  const coding = codingOf(passage.captured.headers['content-encoding'])
  passage.content = passage.body
  return coding === undefined || coding === 'identity' || passage.body.length === 0
    ? undefined
    : inflated(deps.config.INGEST_BODY_BYTES, { passage, coding })
}

async function inflated(
  bytesMax: number,
  of: { passage: Parameters<Check>[1]; coding: Coding },
): Promise<ReturnType<typeof reject> | undefined> {
  const { passage, coding } = of
  const { body } = passage
  // No sender compresses an event so well, and to inflate a small body to a large one costs the sender nothing.
  const denseMax = Math.max(LIMITS.inflatedFreeBytes, LIMITS.inflationRatioMax * body.length)
  const content = await inflate(coding, { body, bytesMax: Math.min(bytesMax, denseMax) })
  if (content === 'too_large') {
    if (denseMax < bytesMax) return reject('payload_too_large', { text: TOO_DENSE })
    return reject('payload_too_large', {
      text: `The body is larger than ${bytesMax} bytes when inflated, the most this server accepts. Send less at once.`,
    })
  }
  if (content === 'broken')
    return reject('invalid_body', {
      text: `The body does not match its Content-Encoding. It must be one complete ${coding} stream.`,
    })
  passage.content = content
  return undefined
}

const TOO_DENSE = `The body inflates to more than ${LIMITS.inflationRatioMax} times its size. Send it less compressed, or not compressed.`
