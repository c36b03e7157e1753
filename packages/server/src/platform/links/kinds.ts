import type { DestinationConfig } from '@postroad/contract'
import type { Link, LinkSettings } from './types.ts'

/** Opens a link of its kind. Each driver is loaded when the first destination of its kind is used. */
// oxlint-disable-next-line complexity -- one case for each kind
export async function openLinkOf({ config, ...settings }: LinkSettings): Promise<Link> {
  switch (config.kind) {
    case 'postgres':
      return (await import('./postgres.ts')).openPostgres({ config, ...settings })
    case 'redis_stream':
      return (await import('./redis.ts')).openRedis({ config, ...settings })
    case 'amqp':
      return (await import('./amqp.ts')).openAmqp({ config, ...settings })
    case 'nats':
      return (await import('./nats.ts')).openNats({ config, ...settings })
    case 'kafka':
      return (await import('./kafka.ts')).openKafka({ config, ...settings })
    case 'smtp':
      return (await import('./smtp.ts')).openSmtp({ config, ...settings })
    case 'http':
    case 'postroad':
    case 'sqs':
    case 'sns':
    case 'pubsub':
    case 's3':
      throw new Error(`Destinations of the kind ${config.kind satisfies NotLinked} are reached by HTTP requests.`)
  }
}

type NotLinked = Extract<DestinationConfig['kind'], 'http' | 'postroad' | 'sqs' | 'sns' | 'pubsub' | 's3'>
