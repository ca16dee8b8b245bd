// The parts of Debian's d3-scale and d3-shape that the page uses; no package has their types.
declare module "d3-scale/src/linear" {
  interface Linear<Value> {
    (value: number): Value;
    domain(values: readonly number[]): this;
    range(values: readonly Value[]): this;
    clamp(on: boolean): this;
    ticks(count: number): number[];
  }
  export default function scaleLinear<Value = number>(): Linear<Value>;
}

declare module "d3-shape" {
  interface Line<Item> {
    (items: readonly Item[]): string | null;
    x(of: (item: Item, index: number) => number): this;
    y(of: (item: Item, index: number) => number): this;
  }
  export function line<Item>(): Line<Item>;
}
