"""A small shop to play in: references, enums, a record, engine-made keys, an audited rule, two worlds, a task."""

from pathlib import Path
from textwrap import dedent

SHOP = dedent(
    """\
    environment shop "A shop for lamps" { }

    policy \"""
      Sell politely.
      > Never on credit.
      \"""

    enum Finish "How a lamp is painted" { brass, white }
    record Size "In centimetres" { height integer, width integer }

    table customers "Who buys" {
      customer_id text key,
      name        text,
      credit      decimal(6, 2) default 0,
    }

    table lamps "What is sold" {
      lamp_id text key,
      title   text,
      finish  Finish,
      size    Size,
      price   decimal(6, 2),
      stock   integer check (stock >= 0),
    }

    table orders "What was sold" {
      order_id    text key serial 'O{000}',
      customer_id -> customers,
      lamp_id     -> lamps,
      gift        boolean default false,
    }

    tool find_customer(name text "The whole name") returns customers "Find a customer."
    {
      let c = select * from customers where name = $name else "Nobody is called {$name}";
      return $c;
    }

    tool find_lamps(finish Finish? "Only lamps that are painted so", at_most integer default 10)
      returns { lamp_id lamps.lamp_id, price decimal(6, 2) }[] "List lamps, the cheapest first."
    {
      return select lamp_id, price from lamps
        where ($finish is null or finish = $finish) and price <= $at_most order by price, lamp_id;
    }

    tool buy(customer_id -> customers as c, lamp_id -> lamps as l, gift boolean default false) returns orders "Sell."
    {
      update lamps set stock = stock - 1 where lamp_id = $lamp_id;
      update customers set credit = credit - $l.price where customer_id = $customer_id;
      let o = insert into orders (customer_id, lamp_id, gift) values ($customer_id, $lamp_id, $gift) returning *;
      return $o;
    }

    tool send_back(order_id -> orders as o) "Undo an order."
    {
      delete from orders where order_id = $order_id;
    }

    tool rename(customer_id -> customers, name text, zip text?) returns text "Give a customer another name."
    {
      update customers set name = $name where customer_id = $customer_id;
      reply "{$name} it is";
    }

    tool measure(size Size) returns Size "Repeat a size." { return $size; }

    tool ping() returns integer "Is anybody there?" { return 1; }

    rule no_credit audited on buy "Nobody buys on credit.": $c.credit >= $l.price;

    world monday "A few lamps" {
      customers (customer_id, name, credit) values
        ('C1', 'Ada Byron', 20.00), ('C2', 'Bo O''Hara', 2.50);
      lamps (lamp_id, title, finish, size, price, stock) values
        ('A1', 'Arc lamp', 'brass', {'height': 180, 'width': 40}, 9.50, 1),
        ('B7', 'Bulb', 'white', {'height': 10, 'width': 6}, 0.80, 12);
    }

    world sunday "Sold out" {
      customers (customer_id, name) values ('C9', 'Cy');
    }

    task light_up on monday "Buy the cheapest lamp" {
      intent \"""
        You want the cheapest lamp there is,
        and to hear what it costs.
        \"""
      fact name "your name" = 'Ada Byron';
      plan {
        who   = find_customer(name: $name);
        lamps = find_lamps();
        reason pick "the cheapest" = select lamp_id, price from $lamps order by price limit 1;
        sold  = buy(customer_id: $who.customer_id, lamp_id: $pick.lamp_id);
      }
      says "the price": $pick.price;
    }

    task wait on sunday "Nothing can be done" {
      intent "You want a lamp."
      plan { who = find_customer(name: 'Cy'); }
    }
    """
)


def write_shop(folder: Path) -> Path:
    """The spec as a file."""
    path = folder / "shop.afs"
    path.write_text(SHOP, encoding="utf-8")
    return path
