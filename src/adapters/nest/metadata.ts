/** The functions of the package reflect-metadata, which Nest loads. */
interface MetadataReflect {
  defineMetadata(key: string, value: unknown, target: object): void
  getMetadata(key: string, target: object): unknown
  hasOwnMetadata(key: string, target: object): boolean
}

const reflect = Reflect as unknown as MetadataReflect

const RATE_LIMIT = 'headgate:rateLimit'

/** What a decorator says about a class or a method. */
export interface Decoration {
  /** The name of the class, or of the class and the method. */
  readonly name: string
  /** The options of the limiter, or `undefined` if the class or method is not limited. */
  readonly options: object | undefined
}

/** Decorates a class, or a method by its function. Throws a `TypeError` for one that has a decoration. */
export function decorate(target: object, decoration: Decoration): void {
  if (reflect.hasOwnMetadata(RATE_LIMIT, target)) {
    const problem = 'a class or handler can have only one @RateLimit(…) or @SkipRateLimit()'
    throw new TypeError(`RateLimit of ${decoration.name}: ${problem}. For several limits, use limits.`)
  }
  reflect.defineMetadata(RATE_LIMIT, decoration, target)
}

/** Returns how a handler is decorated, or else its class; subclasses inherit it. */
export function decorationOf(handler: object, controller: object): Decoration | undefined {
  return (reflect.getMetadata(RATE_LIMIT, handler) ?? reflect.getMetadata(RATE_LIMIT, controller)) as
    | Decoration
    | undefined
}

/** Has Nest inject these into the constructor of a class, as `@Inject()` does. */
export function declareParameters(target: object, tokens: readonly unknown[]): void {
  reflect.defineMetadata('design:paramtypes', tokens, target)
}

/** Has Nest call a filter for exceptions of these classes only, as `@Catch()` does. */
export function declareCaught(filter: object, exceptions: readonly unknown[]): void {
  reflect.defineMetadata('__filterCatchExceptions__', exceptions, filter)
}

/** Returns the guards that `@UseGuards` puts before a handler itself, without those of its class. */
function guardsOf(handler: unknown): readonly unknown[] {
  const guards = typeof handler === 'function' ? reflect.getMetadata('__guards__', handler) : undefined
  return Array.isArray(guards) ? guards : []
}

/**
 * Returns whether a guard is before a handler, but neither before its class nor before another handler of
 * the class. Wrappers of a handler, such as those of @opentelemetry/instrumentation-nestjs-core, have the same
 * metadata.
 */
export function guardsOnly(guard: object, handler: object, controller: object): boolean {
  const { prototype } = controller as { readonly prototype?: object }
  const members = Object.values(Object.getOwnPropertyDescriptors(prototype ?? {})).map(({ value }) => value)
  const guards = guardsOf(handler)
  const guarded = [controller, ...members].filter((member) => guardsOf(member).includes(guard))
  return (
    guards.includes(guard) && guarded.length <= 1 && guarded.every((member) => guardsOf(member) === guards)
  )
}
