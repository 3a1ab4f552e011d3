import { StoreError } from 'headgate'
import { attempt, attemptRead } from '../../../../src/dashboard/server/attempt.js'
import { RequestError } from '../../../../src/dashboard/server/respond.js'

test.each([
  [new TypeError('limit must be'), { status: 400, details: {} }],
  [new StoreError('redis', 'no reply'), { status: 503, details: { isUnknown: true } }],
  [new StoreError('redis', 'read-only', { replied: true }), { status: 503, details: { isUnknown: false } }],
  [
    new StoreError('redis', 'not connected', { unsent: true }),
    { status: 503, details: { isUnknown: false } },
  ],
  [new Error('odd'), { status: 503, details: { isUnknown: true } }],
  [new RequestError(404, 'There is no such limiter.'), { status: 404, details: {} }],
])('%s says whether the outcome is known', async (error, expected) => {
  await expect(attempt(() => Promise.reject(error))).rejects.toMatchObject({
    message: error.message,
    ...expected,
  })
})

test.each([
  [new StoreError('redis', 'no reply within 5000 ms'), 503],
  [new TypeError('limit must be'), 400],
  [new RequestError(404, 'There is no such limiter.'), 404],
])('a read that fails with %s has no unknown outcome', async (error, status) => {
  const { message } = error
  await expect(attemptRead(() => Promise.reject(error))).rejects.toMatchObject({
    status,
    message,
    details: {},
  })
})
