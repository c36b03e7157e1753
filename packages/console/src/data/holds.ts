import type { RouteAnswer, Routes } from '@postroad/contract'
import { useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useAsk } from './ask.ts'
import { usePlace } from './place.ts'
import { useTail } from './use-tail.ts'

type Holds = RouteAnswer<Routes['deliveryHolds']['list']>
export type DeliveryHold = Holds['holds'][number]

const POLL_MS = 5_000
const KEY = ['deliveries', 'holds'] as const

/** The destinations that hold deliveries back now. The stream reports changes; without a stream they are read again and again. */
export function useHolds(): UseQueryResult<Holds> {
  const { status } = useTail()
  return useAsk(
    KEY,
    (client, signal) => client.deliveryHolds.list({}, { signal }),
    status === 'live' ? {} : { everyMs: POLL_MS },
  )
}

/** The rooms that show what holds a delivery back. */
const SHOWING = ['correlate', 'dashboard', 'deliveries', 'destinations'] as const

/** Passes the answer of `delivery-holds` between the stream and the queries, because the frame of a delivery lacks the state of its destination. */
export function useHoldsInTail(): void {
  const tail = useTail()
  const { project } = usePlace()
  const asking = useQueryClient()
  const holds = useHolds().data?.holds
  const { heard, status } = tail
  useEffect(() => {
    if (holds !== undefined) tail.setHolds(holds)
  }, [tail, holds])
  useEffect(() => {
    if (status === 'live') void asking.invalidateQueries({ queryKey: [project.id, ...KEY] })
  }, [asking, project.id, status])
  const known = useRef('')
  useEffect(() => {
    if (heard === undefined) return
    asking.setQueryData([project.id, ...KEY], heard)
    const causes = JSON.stringify(heard.holds.map(({ destination_id: id, cause }) => `${id} ${cause}`).toSorted())
    if (causes === known.current) return
    known.current = causes
    for (const room of SHOWING) void asking.invalidateQueries({ queryKey: [project.id, room] })
  }, [asking, heard, project.id])
}
