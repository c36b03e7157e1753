import { z } from 'zod'
import { Text } from './list.ts'
import { idInput } from './ids.ts'
import { LIMITS } from './limits.ts'

export const TRANSFORM_LANGUAGES = ['js', 'ts'] as const
export type TransformLanguage = (typeof TRANSFORM_LANGUAGES)[number]
export const Language = z
  .enum(TRANSFORM_LANGUAGES)
  .describe('`ts`: types are removed before the code runs. Enums and namespaces are not types.')

export const Code = Text.min(1)
  .max(LIMITS.transformCodeCharsMax, `at most ${LIMITS.transformCodeCharsMax} characters`)
  .describe('JavaScript or TypeScript with a function `transform(event)`.')

/** Why a transform has no result. */
export const TRANSFORM_FAULTS = ['compile', 'threw', 'timed_out', 'memory', 'result', 'too_large'] as const

/** The setting of a destination. */
export const TransformOf = idInput('transform')
  .nullable()
  .describe(
    'The transform that makes the body and the headers of each request; null: none. Only for the kinds http and postroad, with the body `envelope` or `data`, and without a payload_template. A change applies from the next attempt.',
  )
