import { StoreError } from 'headgate'
import { asStoreError } from '../../../src/stores/store-error.js'

const refused = new Error('connect ECONNREFUSED 127.0.0.1:6379')

test.each<[string, unknown, string]>([
  ['an error', refused, 'redis: connect ECONNREFUSED 127.0.0.1:6379'],
  [
    'errors of several addresses',
    new AggregateError([refused, new Error('other')]),
    'redis: connect ECONNREFUSED 127.0.0.1:6379',
  ],
  ['an empty AggregateError', new AggregateError([], 'all failed'), 'redis: all failed'],
  ['a string', 'closed', 'redis: closed'],
  ['nothing', undefined, 'redis: undefined was thrown'],
  ['an object without a prototype', Object.create(null), 'redis: an object was thrown'],
])('%s becomes a StoreError with its cause', (_what, cause, message) => {
  const error = asStoreError('redis', cause)
  expect(error).toBeInstanceOf(StoreError)
  expect(error).toMatchObject({ store: 'redis', message, replied: false })
  expect(error.cause).toBe(cause)
})

test('a StoreError is returned as it is', () => {
  const error = new StoreError('mysql', 'deadlock')
  expect(asStoreError('redis', error)).toBe(error)
})

test('a hint follows the message, and replied is kept', () => {
  expect(asStoreError('mysql', refused, { hint: 'Start the server.', replied: true })).toMatchObject({
    message: 'mysql: connect ECONNREFUSED 127.0.0.1:6379. Start the server.',
    replied: true,
  })
})
