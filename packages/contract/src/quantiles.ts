import { z } from 'zod'

/** The median and the 95th percentile of durations, in milliseconds. */
export const Quantiles = z
  .object({
    p50: z.int().describe('Half of them took at most this many milliseconds.'),
    p95: z.int().describe('95 % of them took at most this many milliseconds.'),
  })
  .nullable()
  .describe('Estimated from a histogram, off by at most half from 2 ms up. null: there was nothing to measure.')
