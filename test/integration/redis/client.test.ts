import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import type { RedisClient } from '../../../src/stores/redis/ioredis/client.js'
import { describeClient } from './client.js'

describeClient('ioredis 6', 'ioredis 5', 'redis 6')

const call = async () => undefined
const whole = { status: 'ready', options: {}, callBuffer: call, pipeline: call, on: call }

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 6379],
  ['an address', 'redis://127.0.0.1:6379'],
  ['a URL', new URL('redis://127.0.0.1:6379')],
  ['options', { host: '127.0.0.1', port: 6379 }],
  ['an empty object', {}],
  ['an array', []],
  ['the class', Redis],
  ['a promise of a client', Promise.resolve(whole)],
  ['a client of another kind', { isReady: true, sendCommand: call, eval: call, unlink: call }],
  ...Object.keys(whole).map((name): [string, unknown] => [
    `one without ${name}`,
    { ...whole, [name]: undefined },
  ]),
  ['one with options of null', { ...whole, options: null }],
])('%s instead of a client throws a TypeError with a hint', (_, wrong) => {
  expect(() => redisStore(wrong as RedisClient)).toThrow(TypeError)
  expect(() => redisStore(wrong as RedisClient)).toThrow(/redisStore: client .*new Redis\(url\)/)
})
