import { customersReach, outboundAllow, publicUrl } from '../config.ts'
import type { Deps, Platform } from '../context.ts'
import type { Features } from '../features.ts'
import { testModel } from '../pipeline/agents/index.ts'
import { sendTest } from '../pipeline/deliver/send-test.ts'
import { testForwarder } from '../pipeline/forward/index.ts'
import { dropSourceReplication, sampleSource } from '../pipeline/sources/index.ts'
import { createAddressGuard, createPlainHttpCheck, createUrlCheck } from '../platform/address-guard.ts'
import { createResolver, type Resolver } from '../platform/resolver.ts'

type Given = Pick<
  Features,
  'configChanged' | 'lanesChanged' | 'instancesDue' | 'deliveryUserAgent' | 'deliveryStalled'
> & {
  /** The port that this process listens on. It is known only after the start. */
  readonly port: () => number
  /** A name server instead of the machine's, for chaos and tests. */
  readonly resolver?: Resolver | undefined
}

/** Adds the features to the platform. */
export function createDeps(platform: Platform, { port, resolver = createResolver(), ...given }: Given): Deps {
  const { config } = platform
  const guard = createAddressGuard({ allow: outboundAllow(config) })
  const baseUrl = (): string => publicUrl(config, port())
  const deps: Deps = {
    ...platform,
    ...given,
    baseUrl,
    upgradeUrl: () => config.UPGRADE_URL ?? `${baseUrl()}/settings/billing`,
    validateUrl: createUrlCheck(guard),
    validateCustomerUrl: createUrlCheck(createAddressGuard(customersReach(config))),
    validatePlainHttp: createPlainHttpCheck(guard, resolver),
    sendTest: (asked) => sendTest(deps, asked),
    testModel: (asked) => testModel(deps, asked),
    testForwarder: (asked) => testForwarder(deps, asked),
    sampleSource: (asked) => sampleSource(deps, asked),
    dropReplication: (asked) => dropSourceReplication(deps, asked),
  }
  return deps
}
