import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'

export type Plan = RouteAnswer<Routes['config']['plan']>['plan']
export type Config = RouteRequest<Routes['config']['plan']>['config']
export type Outcome = RouteAnswer<Routes['config']['apply']>['applied']
