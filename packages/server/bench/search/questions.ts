import { createHash } from 'node:crypto'
import { WORDS } from './queries.ts'

/** One question: the search of the product, and the same in SQL and in the query language of OpenSearch. */
export type Question = {
  readonly name: string
  /** The query of the product about the event with this number, or about no event. */
  readonly ask: (n: number) => readonly (readonly [string, string])[]
  readonly sql: (n: number) => string
  readonly filters: (n: number) => readonly object[]
}

const md5Of = (text: string): string => createHash('md5').update(text).digest('hex')

const LIKE = (text: string): string => `body ilike '%${text}%'`
const FIELD = (path: string): string => `body::json #>> '{${path}}'`
const within = (field: string, text: string): object => ({ wildcard: { [field]: { value: `*${text}*` } } })
const equal = (field: string, value: string | number): object => ({ term: { [field]: { value } } })

/** A question for a text, wherever it is in the payload. */
const textQuestion = (name: string, text: (n: number) => string): Question => ({
  name,
  ask: (n) => [['q', text(n)]],
  sql: (n) => LIKE(text(n)),
  filters: (n) => [within('text', text(n))],
})

const WORD_LIST = WORDS.split(' ')
const word = (n: number): string => WORD_LIST[n % WORD_LIST.length] ?? ''
const amount = (n: number): number => Number((BigInt(n) * 7919n) % 1_000_000n)
const customer = (n: number): number => Math.floor(n / 10)
const customerId = (n: number): string => `cus_${md5Of(`c${customer(n)}`).slice(0, 14)}`
const deliveryId = (n: number): string => md5Of(`d${n}`).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
const note = (n: number): string =>
  [n, Math.floor(n / 20), Math.floor(n / 400), Math.floor(n / 8_000)].map(word).join(' ')
const partOfOrder = (n: number): string => md5Of(`o${n}`).slice(2, 12)
/** The article of the event after it, which never has the same order. */
const otherSku = (n: number): string => `SKU-${(n + 1) % 5_000}`

export const QUESTIONS: readonly Question[] = [
  textQuestion('the id of an order', (n) => `ord_${md5Of(`o${n}`).slice(0, 16)}`),
  textQuestion('the middle of an id', (n) => md5Of(`e${n}`).slice(4, 14)),
  textQuestion('an email address', (n) => `.${customer(n)}@`),
  textQuestion('a text of no event', (n) => `absent-${md5Of(`x${n}`).slice(0, 8)}`),
  textQuestion('a word of every twentieth event', word),
  textQuestion('four words in order', note),
  {
    name: 'a field that equals an id',
    ask: (n) => [['f', `data.order.customer.id:equals:${customerId(n)}`]],
    sql: (n) => `${FIELD('data,order,customer,id')} = '${customerId(n)}'`,
    filters: (n) => [equal('payload.data.order.customer.id', customerId(n))],
  },
  {
    name: 'a field that equals a number',
    ask: (n) => [['f', `data.order.amount:equals:${amount(n)}`]],
    sql: (n) => `${FIELD('data,order,amount')} = '${amount(n)}'`,
    filters: (n) => [equal('payload.data.order.amount', amount(n))],
  },
  {
    name: 'a header that equals an id',
    ask: (n) => [['header', `x-shop-delivery:equals:${deliveryId(n)}`]],
    sql: (n) => `headers ->> 'x-shop-delivery' = '${deliveryId(n)}'`,
    filters: (n) => [equal('headers.x-shop-delivery', deliveryId(n))],
  },
  {
    name: 'two fields that no event has together',
    ask: (n) => [
      ['f', `data.order.id:contains:${partOfOrder(n)}`],
      ['f', `data.order.lines.0.sku:equals:${otherSku(n)}`],
    ],
    sql: (n) =>
      `${FIELD('data,order,id')} like '%${partOfOrder(n)}%' and ${FIELD('data,order,lines,0,sku')} = '${otherSku(n)}'`,
    filters: (n) => [
      within('payload.data.order.id', partOfOrder(n)),
      equal('payload.data.order.lines.sku', otherSku(n)),
    ],
  },
]
