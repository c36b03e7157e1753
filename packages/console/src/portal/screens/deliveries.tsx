import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useAsk, usePortal } from '../data/portal.ts'
import { go, type Route } from '../data/route.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { Head } from '../ui/head.tsx'
import { Blank, Card, RefusedNotice, Skeleton } from '../ui/states.tsx'
import { STATUS_WORDS } from '../ui/status.tsx'
import { DeliveryRows } from './delivery-rows.tsx'

const PAGE = 25
const POLL_MS = 10_000
const FIRST: string | undefined = undefined

type Filter = Extract<Route, { view: 'deliveries' }>

/** The deliveries to the destinations of the customer, newest first. */
export function DeliveriesView({ filter }: { readonly filter: Filter }): ReactElement {
  const { server } = usePortal()
  const status = STATUS_WORDS.find((one) => one.status === filter.status)?.status
  const asked = useInfiniteQuery({
    queryKey: ['deliveries', 'list', status, filter.destination],
    queryFn: ({ pageParam, signal }) =>
      server.deliveries({ status, destination_id: filter.destination, cursor: pageParam, limit: PAGE }, signal),
    initialPageParam: FIRST,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: POLL_MS,
  })
  const destinations = useAsk(['destinations', 'list'], (from, signal) => from.destinations(signal)).data?.destinations
  const urlOf = (id: string): string =>
    destinations?.find((one) => one.id === id)?.url ?? (destinations === undefined ? '…' : 'a deleted destination')
  const deliveries = asked.data?.pages.flatMap((page) => page.deliveries)
  const isFiltered = status !== undefined || filter.destination !== undefined
  const change = (part: Partial<Filter>): void => go({ ...filter, ...part }, { replace: true })
  return (
    <>
      <Head title="Deliveries" text="Events sent to you, with every attempt and your server’s response." />
      <div role="group" aria-label="Filters" className="mb-4 flex flex-wrap gap-2">
        <Select
          label="Status"
          value={status ?? ''}
          onChange={({ currentTarget: { value } }) => change({ status: value === '' ? undefined : value })}
        >
          <option value="">All statuses</option>
          {STATUS_WORDS.map((one) => (
            <option key={one.status} value={one.status}>
              {capital(one.word)}
            </option>
          ))}
        </Select>
        <Select
          label="Destination"
          className="min-w-0 flex-1 basis-48 sm:max-w-sm"
          value={filter.destination ?? ''}
          onChange={({ currentTarget: { value } }) => change({ destination: value === '' ? undefined : value })}
        >
          <option value="">All destinations</option>
          {destinations?.map(({ id, url }) => (
            <option key={id} value={id}>
              {url}
            </option>
          ))}
        </Select>
      </div>
      <RefusedNotice error={asked.error} again={asked.refetch} />
      {deliveries === undefined ? (
        asked.error === null && <Skeleton rows={6} height={52} />
      ) : deliveries.length === 0 ? (
        isFiltered ? (
          <Blank
            title="No deliveries match"
            actions={
              <Button onClick={() => change({ status: undefined, destination: undefined })}>Show all deliveries</Button>
            }
          >
            No recent delivery has this status and this destination.
          </Blank>
        ) : (
          <Blank title="No deliveries yet">
            Deliveries appear here when events are sent to you. You can also send a test to a destination. Tests are not
            listed here.
          </Blank>
        )
      ) : (
        <>
          <Card>
            <DeliveryRows of={deliveries} urlOf={urlOf} />
          </Card>
          {asked.hasNextPage && (
            <div className="mt-3 text-center">
              <Button disabled={asked.isFetchingNextPage} onClick={() => void asked.fetchNextPage()}>
                Show older
              </Button>
            </div>
          )}
        </>
      )}
    </>
  )
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
}
