import { All, Controller, Module, Req, Res, type Type, UseGuards } from '@nestjs/common'
import { type Decision, tokenBucket } from 'headgate'
import {
  loginGuard,
  type OverloadGuardOptions,
  overloadGuard,
  RateLimit,
  RateLimitGuard,
  RateLimitModule,
  type RateLimitModuleOptions,
} from 'headgate/nest'
import { type Application, limitedAnswer, timesMounted } from '../adapters/application.js'
import type { Scenario } from '../adapters/scenarios.js'

/** What the responses of both platforms have. */
interface Response {
  status(code: number): { send(body: string): unknown }
}

interface Request {
  readonly rateLimit?: Decision
}

/**
 * A module whose controllers serve the scenarios, each with a limiter of its own. `RateLimiters` has it by
 * the name of the scenario, behind a prefix: the names of all applications of a process are in one registry.
 */
export function scenarioModule(application: Application, prefix: string): Type {
  const controllers = application.scenarios.map(([name, scenario]) => {
    const controller = controllerOf(application, name)
    Object.defineProperty(controller, 'name', { value: prefix + name })
    RateLimit(optionsOf(scenario))(controller)
    if (scenario.isMountedTwice) UseGuards(RateLimitGuard)(controller)
    return controller
  })
  const guarded = application.guards.map(([name, options]) => {
    const controller = controllerOf(application, name)
    const { prototype } = controller
    const descriptor = Object.getOwnPropertyDescriptor(prototype, 'handle') as PropertyDescriptor
    UseGuards(loginGuard({ ...options, path: `/${name}` }))(prototype, 'handle', descriptor)
    return controller
  })
  const overloaded = application.overloads.map(([name, overload]) => {
    const controller = controllerOf(application, name)
    const { options, isAnsweredByApp } = overload
    const guard = overloadGuard({
      ...options,
      ...(isAnsweredByApp && { exception: answerItself }),
    } as OverloadGuardOptions)
    UseGuards(...timesMounted(overload, guard))(controller)
    return controller
  })
  @Module({
    imports: [RateLimitModule.forRoot({})],
    controllers: [...controllers, ...guarded, ...overloaded],
  })
  class ScenarioModule {}
  return ScenarioModule
}

function controllerOf(application: Application, name: string): Type {
  @Controller(name)
  class ScenarioController {
    @All()
    async handle(@Req() req: Request, @Res({ passthrough: true }) res: Response): Promise<string> {
      const { status, text } = await application.handle(name, req, req.rateLimit)
      res.status(status)
      return text
    }
  }
  return ScenarioController
}

/** The default name of a limiter in a store is that of the class; the cases expect that of the policy. */
function optionsOf({ limiters, isAnsweredByApp }: Scenario): RateLimitModuleOptions<object> {
  const [first = {}, ...others] = limiters
  if (others.length === 0)
    return { name: '2-in-1min', ...first, ...(isAnsweredByApp && { exception: answerItself }) }
  const { limit: _limit, window: _window, name: _name, ...shared } = first
  const limits = limiters.map(({ name = '', limit = 0, window = 0 }) => {
    return { name, policy: tokenBucket({ capacity: limit, refill: limit, every: window }) }
  })
  return { ...shared, limits }
}

const answerItself: NonNullable<RateLimitModuleOptions['exception']> = (exception, context) => {
  const [req, res] = context.getArgs<[Required<Request>, Response]>()
  const { status, text } = limitedAnswer(req.rateLimit)
  res.status(status).send(text)
  return exception
}
