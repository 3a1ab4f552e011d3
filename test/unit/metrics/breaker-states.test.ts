import { breakerStates } from '../../../src/metrics/breaker-states.js'

const origin = { limiter: 'api', instance: {}, store: 'redis', cause: undefined }

test('a series shows the worst state of all servers, until each is closed', () => {
  const { update, worst } = breakerStates()
  const change = (server: string, state: 'open' | 'half-open' | 'closed') => {
    update({ type: 'state', ...origin, state, server })
    return worst().map((breaker) => breaker.state)
  }
  expect(change('a', 'open')).toEqual(['open'])
  expect(change('b', 'half-open')).toEqual(['open'])
  expect(change('a', 'closed')).toEqual(['half-open'])
  expect(change('b', 'closed')).toEqual(['closed'])
})
