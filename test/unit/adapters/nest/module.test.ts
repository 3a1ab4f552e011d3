import 'reflect-metadata'
import { RateLimit, RateLimiters, RateLimitFilter, RateLimitGuard, RateLimitModule } from 'headgate/nest'
import { limitedDecorations } from '../../../../src/adapters/nest/decorators.js'
import { Other } from './contexts.js'

afterEach(() => limitedDecorations.clear())

describe('the module', () => {
  const provided = (module: { providers?: readonly unknown[] }, token: unknown) =>
    (module.providers as { provide: unknown; useFactory: (...args: unknown[]) => unknown }[]).find(
      ({ provide }) => provide === token,
    )?.useFactory

  test('provides the limiters, the guard and the filter for all handlers', async () => {
    const options = { limit: 1, window: '1m' } as const
    const module = RateLimitModule.forRoot(options)
    expect(module).toMatchObject({
      module: RateLimitModule,
      global: true,
      exports: [RateLimiters],
      imports: [],
    })
    expect(provided(module, 'headgate:options')?.()).toBe(options)
    const limiters = provided(module, RateLimiters)?.(options) as RateLimiters
    const guard = provided(module, 'APP_GUARD')?.(limiters) as RateLimitGuard
    expect(guard).toBeInstanceOf(RateLimitGuard)
    expect(provided(module, 'APP_FILTER')?.()).toBeInstanceOf(RateLimitFilter)
    const own = provided(module, 'APP_GUARD')?.(new RateLimiters({ ...options, global: false }))
    expect(own).not.toBeInstanceOf(RateLimitGuard)
    expect((own as RateLimitGuard).canActivate({} as never)).toBe(true)
    for (const type of [RateLimitModule, RateLimitGuard])
      expect(Reflect.getMetadata('design:paramtypes', type)).toEqual([RateLimiters])
  })

  test('takes options from a factory, with what is injected and imported', () => {
    const useFactory = () => ({ limit: 1, window: '1m' as const })
    const module = RateLimitModule.forRootAsync({
      imports: ['Store' as never],
      inject: ['STORE'],
      useFactory,
    })
    expect(module.imports).toEqual(['Store'])
    expect(module.providers).toContainEqual({ provide: 'headgate:options', useFactory, inject: ['STORE'] })
    expect(RateLimitModule.forRootAsync({ useFactory })).toMatchObject({ imports: [] })
    expect(RateLimitModule.forRootAsync({ useFactory }).providers).toContainEqual(
      expect.objectContaining({ provide: 'headgate:options', inject: [] }),
    )
  })

  test('closes all limiters when the application shuts down', async () => {
    RateLimit({ limit: 1, window: '1m' })(Other)
    try {
      const limiters = new RateLimiters({ limit: 1, window: '1m' })
      const closed = [limiters.default, limiters.get('Other')].map((limiter) =>
        jest.spyOn(limiter as NonNullable<typeof limiter>, 'close'),
      )
      await new RateLimitModule(limiters).onApplicationShutdown()
      for (const close of closed) expect(close).toHaveBeenCalledTimes(1)
      await new RateLimitModule(new RateLimiters({ global: true })).onApplicationShutdown()
    } finally {
      Reflect.deleteMetadata('headgate:rateLimit', Other)
    }
  })

  test.each([
    ['global in a decorator', { global: false }, /Write global in RateLimitModule\.forRoot\./],
    ['handler', { handler: () => undefined }, /Write exception, which returns what is thrown/],
    ['an exception that is no function', { limit: 1, window: '1m', exception: 'no' }, /exception must be/],
  ])('says what is wrong with %s', (_, options, message) => {
    RateLimit(options as object)(Other)
    try {
      expect(() => new RateLimiters({})).toThrow(message)
    } finally {
      Reflect.deleteMetadata('headgate:rateLimit', Other)
    }
  })
})
