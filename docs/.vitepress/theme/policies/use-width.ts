import { onBeforeUnmount, onMounted, type Ref, shallowRef } from 'vue'

/** Returns the width of an element in pixels: a guess until the browser has laid the page out. */
export function useWidth(element: Readonly<Ref<Element | null>>, guess: number): Readonly<Ref<number>> {
  const width = shallowRef(guess)
  let observer: ResizeObserver | undefined
  onMounted(() => {
    observer = new ResizeObserver((entries) => {
      width.value = entries.at(-1)?.contentRect.width || guess
    })
    if (element.value !== null) observer.observe(element.value)
  })
  onBeforeUnmount(() => observer?.disconnect())
  return width
}
