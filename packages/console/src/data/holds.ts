import type { RouteAnswer, Routes } from '@postroad/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useAsk } from './ask.ts'
import { useTail } from './use-tail.ts'

type Holds = RouteAnswer<Routes['deliveryHolds']['list']>
export type DeliveryHold = Holds['holds'][number]

const POLL_MS = 5_000

/** The destinations that hold deliveries back now. */
export function useHolds(): UseQueryResult<Holds> {
  return useAsk(['deliveries', 'holds'], (client, signal) => client.deliveryHolds.list({}, { signal }), {
    everyMs: POLL_MS,
  })
}

/** Passes the causes to the tail, because the frame of a delivery lacks the current state of its destination. */
export function useHoldsInTail(): void {
  const tail = useTail()
  const holds = useHolds().data?.holds
  useEffect(() => {
    if (holds !== undefined) tail.setHolds(holds)
  }, [tail, holds])
}
