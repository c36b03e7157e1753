import type { RouteAnswer, Routes } from '@postroad/contract'

/** The answer of `GET map`, and its parts. */
export type MapAnswer = RouteAnswer<Routes['map']['get']>['map']
export type MapNode = MapAnswer['nodes'][number]
export type MapLine = MapAnswer['lines'][number]
export type End = MapLine['from']
