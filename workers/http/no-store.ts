/** Whether the answer is to be made for this client alone: whoever measures it, or doubts the caches, says so. */
export function saysNoStore(request: Request): boolean {
  return /\bno-store\b/i.test(request.headers.get('Cache-Control') ?? '')
}
