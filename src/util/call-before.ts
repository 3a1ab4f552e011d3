type Method = (this: unknown, ...args: unknown[]) => unknown

/** Calls `listener` before each call of these methods of an object. */
export function callBefore(object: object, names: readonly string[], listener: () => void): void {
  const methods = object as Record<string, Method>
  for (const name of names) {
    const method = methods[name] as Method
    methods[name] = function callListenerFirst(...args) {
      listener()
      return method.apply(this, args)
    }
  }
}
