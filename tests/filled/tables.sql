CREATE TABLE customers (
  id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(40), since DATE, vip TINYINT, remark VARCHAR(20),
  file VARCHAR(80), line BIGINT, number BIGINT, loaded DATETIME, origin VARCHAR(10), KEY by_city (city)
) CHARACTER SET utf8mb4;
CREATE TABLE orders (
  id INT PRIMARY KEY, customer_id INT NOT NULL, amount DECIMAL(10,2), ordered_at DATETIME, note VARCHAR(30),
  KEY by_customer (customer_id), KEY by_time (ordered_at),
  CONSTRAINT orders_customer FOREIGN KEY (customer_id) REFERENCES customers (id)
) CHARACTER SET utf8mb4;
CREATE TABLE orders_copy (
  id INT PRIMARY KEY, customer_id INT NOT NULL, amount DECIMAL(10,2), ordered_at DATETIME, note VARCHAR(30)
) CHARACTER SET utf8mb4;
CREATE TABLE products (
  sku VARCHAR(12) PRIMARY KEY, name VARCHAR(40), price DECIMAL(8,2), KEY by_name (name)
) CHARACTER SET utf8mb4;
CREATE TABLE readings (
  id INT PRIMARY KEY, sensor VARCHAR(10) NOT NULL, value DOUBLE, at DATETIME(3), uid BINARY(16), doc JSON,
  KEY by_sensor (sensor)
) CHARACTER SET utf8mb4;
