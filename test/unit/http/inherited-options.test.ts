import { memoryStore, sharedSettings } from 'headgate'
import { inheritOptions } from '../../../src/http/inherited-options.js'

const settings = sharedSettings(memoryStore())

test('a route with a name inherits settings, and one without a name does not', () => {
  const shared = { name: 'app', limit: 5, window: '1m', settings }
  expect(inheritOptions(shared, { name: 'route' } as typeof shared)).toMatchObject({
    name: 'route',
    settings,
  })
  expect(inheritOptions(shared, {} as typeof shared)).toEqual({ limit: 5, window: '1m' })
})
